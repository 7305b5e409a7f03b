//! The `tier6` command: parse, call one function of the facade, show the result.

mod args;
mod bar;
mod commands;
mod failure;
mod meaning;
mod terminal;

use args::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use std::panic;
use std::process::ExitCode;
use terminal::Terminal;
use tier6::Exit;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = Terminal::new(&arguments.global);
    // A panic is a bug of tier6; the hook has printed it by the time it arrives here.
    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(|| run(arguments, &terminal)));
    match outcome {
        Ok(Ok(exit)) => ExitCode::from(exit.code()),
        Ok(Err(failure)) => failure.report(&terminal),
        Err(_) => {
            terminal.hint("this is a bug of tier6; please report it with the input");
            ExitCode::from(Exit::Internal.code())
        }
    }
}

fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    match arguments.command {
        None => terminal::print(args::GREETING).map(|()| Exit::Done),
        Some(Command::Analyze(options)) => commands::analyze::run(&options, terminal),
        Some(Command::Compare(options)) => commands::compare::run(&options, terminal),
        Some(Command::Convert(options)) => commands::convert::run(&options, terminal),
        Some(Command::Validate(options)) => commands::validate::run(&options, terminal),
        Some(Command::Calibrate(options)) => commands::calibrate::run(&options, terminal),
        Some(Command::Predict(options)) => commands::predict::run(&options, terminal),
        Some(Command::Simulate(options)) => commands::simulate::run(&options, terminal),
        Some(Command::Experiment(options)) => commands::experiment::run(&options, terminal),
        Some(Command::Systems(options)) => commands::systems::run(&options, terminal),
        Some(Command::Tuner(options)) => commands::tuner::run(&options, terminal),
        Some(Command::Demo(options)) => commands::demo::run(&options, terminal),
        Some(Command::Completions { shell }) => commands::pages::completions(shell),
        Some(Command::Man { output }) => commands::pages::man(output),
    }
}
