//! Shell completions and manual pages, from the same definition as the help.

use crate::args::Arguments;
use crate::failure::Failure;
use crate::terminal::print;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;
use tier6::Exit;

/// Prints the completions of one shell.
pub fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "tier6", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Prints the manual page, or writes one page per command into a folder.
pub fn man(folder: Option<PathBuf>) -> Result<Exit, Failure> {
    let command = Arguments::command();
    let Some(folder) = folder else {
        print(&page(command)?)?;
        return Ok(Exit::Done);
    };
    tier6::write_file(&folder.join("tier6.1"), &page(command.clone())?)?;
    for sub in command.get_subcommands() {
        let name = format!("tier6-{}", sub.get_name());
        let text = page(sub.clone().name(name.clone()))?;
        tier6::write_file(&folder.join(format!("{name}.1")), &text)?;
    }
    Ok(Exit::Done)
}

fn page(command: clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
