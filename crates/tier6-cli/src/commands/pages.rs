//! Shell completions and manual pages, from the same definition as the help.

use crate::args::Arguments;
use crate::failure::Failure;
use crate::terminal::print;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::Write;
use std::path::{Path, PathBuf};
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
    let mut command = Arguments::command()
        .disable_help_subcommand(true)
        .propagate_version(true);
    // Hands the global options and the whole name (`tier6 analyze`) down.
    command.build();
    match folder {
        None => print(&page(&command)?)?,
        Some(folder) => {
            tier6::make_folder(&folder)?;
            write_pages(&command, &folder)?;
        }
    }
    Ok(Exit::Done)
}

fn write_pages(command: &Command, folder: &Path) -> Result<(), Failure> {
    let name = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name());
    tier6::write_file(&folder.join(format!("{name}.1")), &page(command)?)?;
    command
        .get_subcommands()
        .try_for_each(|sub| write_pages(sub, folder))
}

/// Renders one page; the examples and the exit codes of the help keep their lines.
fn page(command: &Command) -> Result<String, Failure> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    verbatim(command.get_before_help(), &mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    verbatim(command.get_after_help(), &mut text)?;
    man.render_version_section(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Renders `Examples:` and the lines below it as a section without line filling.
fn verbatim(
    part: Option<&clap::builder::StyledStr>,
    text: &mut Vec<u8>,
) -> Result<(), std::io::Error> {
    let Some(part) = part.map(ToString::to_string) else {
        return Ok(());
    };
    let (title, body) = part.split_once('\n').unwrap_or((&part, ""));
    let title = title.trim_end_matches(':').to_uppercase();
    writeln!(text, ".SH \"{title}\"\n.nf")?;
    for line in body.trim_end().lines() {
        // A dot or a quote at the start of a line would be a command to the formatter.
        writeln!(text, "\\&{}", line.replace('\\', "\\e").replace('-', "\\-"))?;
    }
    writeln!(text, ".fi")
}
