//! `tier6 systems`.

use crate::args::predict::{Show, Systems, SystemsCommand};
use crate::args::{Output, TextFormat};
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use tier6::{Detail, Error, Exit, Form};

pub fn run(options: &Systems, terminal: &Terminal) -> Result<Exit, Failure> {
    match &options.command {
        None => deliver(&options.output, terminal, |form| {
            tier6::render_systems(&tier6::list_systems(), form)
        }),
        Some(SystemsCommand::Show(options)) => show(options, terminal),
    }
}

fn show(options: &Show, terminal: &Terminal) -> Result<Exit, Failure> {
    meaning::inputs([&options.system], options.output.output.as_deref())?;
    deliver(&options.output, terminal, |form| {
        let report = tier6::show_system(&options.system, options.nodes)?;
        tier6::render_system(&report, form)
    })
}

fn deliver(
    output: &Output<TextFormat>,
    terminal: &Terminal,
    render: impl FnOnce(Form) -> Result<String, Error>,
) -> Result<Exit, Failure> {
    let file = output.output.as_deref();
    let form = terminal.form(meaning::format(output)?, Detail::Short, file);
    terminal.deliver(&render(form)?, file)?;
    Ok(Exit::Done)
}
