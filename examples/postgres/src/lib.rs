//! A webhook receiver and a durable consumer of events, both on Postgres: what happens in Shadway has its effect
//! here once, whatever is killed meanwhile. README.md says how to run them and what they guarantee.

use std::error::Error;
use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

pub mod database;
pub mod effect;
pub mod inbox;
pub mod reader;
pub mod receiver;
pub mod worker;

/// Why one of the programs, or a piece of work, can't go on.
pub type Failure = Box<dyn Error + Send + Sync>;

/// A variable of the environment that has to be set.
///
/// # Errors
/// When it isn't, or to nothing.
pub fn variable(name: &str) -> Result<String, Failure> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| format!("{name} is not set").into())
}

/// A line for whoever runs the program.
pub fn say(line: impl Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// An error with all that it comes from.
#[must_use]
pub fn causes(error: &(dyn Error + 'static)) -> String {
    let layers = std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| (*error).source());
    layers.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The end of a program.
#[must_use]
pub fn exit(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "{}", causes(&*failure));
            ExitCode::FAILURE
        }
    }
}
