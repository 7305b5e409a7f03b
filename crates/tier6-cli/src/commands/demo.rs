//! `tier6 demo`.

use crate::args::Demo;
use crate::failure::Failure;
use crate::meaning;
use crate::terminal::Terminal;
use tier6::{Detail, Exit};

pub fn run(options: &Demo, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = meaning::format(&options.output)?;
    let file = options.output.output.as_deref();
    let demo = tier6::demo()?;
    let text = tier6::render_demo(&demo, terminal.form(format, Detail::Wide, file));
    terminal.deliver(&text, file)?;
    Ok(Exit::Done)
}
