//! All of the crate at once, on a faulty server over real sockets, for as long as it is told to.
//!
//!     cargo run -p soak -- [--seconds 60] [--seed N] [--mandates 200]
//!
//! Exit status: 0 when all held, 1 when something did not, 2 on bad arguments.

mod faults;
mod figures;
mod follow;
mod inbox;
mod job;
mod ledger;
mod machine;
mod run;
mod server;
mod steer;
mod tally;
mod watched;
mod whole;

use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: soak [--seconds SECONDS] [--seed SEED] [--mandates COUNT]";
struct Options {
    serve: bool,
    time: Duration,
    seed: u64,
    mandates: u64,
}

impl Options {
    fn parse() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let seed = fastrand::u64(..1_000_000);
        let mut options = Self { serve: false, time: Duration::from_secs(60), seed, mandates: 200 };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("seconds") => options.time = Duration::from_secs(arguments.value()?.parse()?),
                Long("seed") => options.seed = arguments.value()?.parse()?,
                Long("mandates") => options.mandates = arguments.value()?.parse()?,
                Value(value) if value == "serve" => options.serve = true,
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(options)
    }
}

#[tokio::main]
#[expect(clippy::print_stderr, clippy::print_stdout, reason = "it is a program")]
async fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}; {USAGE}");
            return ExitCode::from(2);
        }
    };
    if options.serve {
        return match server::serve(options.seed).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("the server: {error}");
                ExitCode::FAILURE
            }
        };
    }
    println!("{} mandates at a time for {:?}, seed {}", options.mandates, options.time, options.seed);
    match whole::soak(&options).await {
        Ok(figures) => {
            println!("{figures}");
            if let Some(not_held) = figures.not_held() {
                println!("Not held: {not_held}.");
            }
            if figures.breaches.is_empty() {
                return ExitCode::SUCCESS;
            }
            println!("Not as it has to be, with seed {}:", options.seed);
            figures.breaches.iter().for_each(|breach| println!("- {breach}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("It could not go on, with seed {}: {error}", options.seed);
            ExitCode::FAILURE
        }
    }
}
