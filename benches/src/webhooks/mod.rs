//! What verifying a delivery costs, beside others, and what refusing one costs.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use crate::measure::{Spread, seconds, time};
use crate::node;
pub use cases::{Case, FLOOR, SHADWAY, SIZES, refusals, verifications};

mod cases;

/// How often something is done in a round: a round takes a millisecond or two.
const OFTEN: usize = 2_000;
/// The same of what takes long.
const SELDOM: usize = 50;

type Rounds = BTreeMap<(&'static str, usize), Vec<Duration>>;

/// Prints all tables; whether nothing was allocated.
#[must_use]
pub fn run(rounds: usize) -> bool {
    let mut times = Rounds::new();
    // In turn, so that other load on the machine meets all alike; and once before, unmeasured.
    for round in 0..=rounds {
        let mut note = |case: &Case, size: usize| {
            let repeats = if size > SIZES[0] { SELDOM } else { OFTEN };
            let took = time(|| (0..repeats).for_each(|_| assert!((case.right)(), "{}", case.name)));
            if round > 0 {
                times.entry((case.name, size)).or_default().push(took / repeats as u32);
            }
        };
        for size in SIZES {
            let mut cases = verifications(size);
            // What comes first finds the caches as others left them.
            if round % 2 == 0 {
                cases.reverse();
            }
            cases.iter().for_each(|case| note(case, size));
        }
        refusals().iter().for_each(|case| note(case, 0));
    }
    println!(
        "Nanoseconds to verify, and how many times as long as the floor and as shadway: the medians of {rounds}"
    );
    println!("rounds, with the middle half of them.\n");
    header();
    for case in verifications(0) {
        let of = |size| times[&(case.name, size)].as_slice();
        row(case.name, |size| {
            (
                nanoseconds(of(size)),
                ratio(of(size), &times[&(FLOOR, size)]),
                ratio(of(size), &times[&(SHADWAY, size)]),
            )
        });
    }
    print_node(&times, rounds);
    print_refusals(&times);
    // A program of its own, since counting takes time.
    println!();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["run", "-q", "-p", "benches", "--release", "--bin", "allocations", "--", "webhooks"];
    let allocations = Command::new(cargo).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).status();
    allocations.is_ok_and(|status| status.success())
}

fn print_refusals(times: &Rounds) {
    println!("\nNanoseconds to refuse, and the share of verifying 1 KiB\n\n| | ns | share |\n|---|---|---|");
    let whole = &times[&(SHADWAY, SIZES[0])];
    for case in refusals() {
        let rounds = &times[&(case.name, 0)];
        println!("| {} | {:.0} | {} |", case.name, nanoseconds(rounds), ratio(rounds, whole));
    }
}

/// How often a piece of work allocates, and how much.
pub type Count = dyn Fn(&dyn Fn()) -> (usize, usize);

/// Prints what one of each allocates; whether shadway allocates nothing.
#[must_use]
pub fn allocations(count: &Count) -> bool {
    println!(
        "Allocations and reallocations of one delivery, and their bytes\n\n| | 1 KiB | 64 KiB |\n|---|---|---|"
    );
    let mut none = true;
    let mut cell = |case: &Case| {
        let (calls, bytes) = count(&|| assert!((case.right)(), "{}", case.name));
        none &= case.may_allocate || calls == 0;
        format!("{calls} ({bytes} B)")
    };
    let [small, large] = SIZES.map(verifications);
    for (small, large) in small.iter().zip(&large) {
        println!("| {} | {} | {} |", small.name, cell(small), cell(large));
    }
    for case in refusals() {
        println!("| refused: {} | {} | |", case.name, cell(&case));
    }
    none
}

/// Its times are those of the whole process, with the threads that tidy up, and of rounds of their own.
fn print_node(times: &Rounds, rounds: usize) {
    println!("\nIn Node, with the bytes of its heap that one takes\n");
    let bodies = SIZES.map(|size| String::from_utf8_lossy(&cases::body(size)).into_owned());
    let arguments = [rounds.to_string(), OFTEN.to_string(), SELDOM.to_string()].into_iter().chain(bodies);
    let program = ["--expose-gc", "--max-semi-space-size=128", "--min-semi-space-size=128", "verify.mjs"];
    let answer = match node::run("stripe", &program, arguments) {
        Ok(answer) => answer,
        Err(why) => return println!("left out: {why}"),
    };
    let mut found: BTreeMap<&str, BTreeMap<usize, (Spread, f64)>> = BTreeMap::new();
    for line in answer.lines() {
        let mut words = line.split('\t');
        let name = words.next().unwrap_or_default();
        let mut numbers = words.filter_map(|word| word.parse::<f64>().ok());
        let (size, bytes) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
        found.entry(name).or_default().insert(size as usize, (Spread::of(numbers), bytes));
    }
    println!(
        "| | 1 KiB | times the floor | times shadway | bytes | 64 KiB | times the floor | times shadway | bytes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, sizes) in found {
        let cells = SIZES.map(|size| {
            let (took, bytes) = &sizes[&size];
            let beside = |name| Ratio(took.over(nanoseconds(&times[&(name, size)])));
            format!("{:.0} | {} | {} | {bytes:.0}", took.median, beside(FLOOR), beside(SHADWAY))
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}

fn header() {
    println!("| | 1 KiB | times the floor | times shadway | 64 KiB | times the floor | times shadway |");
    println!("|---|---|---|---|---|---|---|");
}

fn row(name: &str, cells: impl Fn(usize) -> (f64, Ratio, Ratio)) {
    let cells = SIZES.map(|size| {
        let (took, floor, shadway) = cells(size);
        format!("{took:.0} | {floor} | {shadway}")
    });
    println!("| {name} | {} |", cells.join(" | "));
}

fn nanoseconds(rounds: &[Duration]) -> f64 {
    Spread::of(seconds(rounds)).median * 1e9
}

/// Of the times of the same round.
fn ratio(rounds: &[Duration], others: &[Duration]) -> Ratio {
    Ratio(Spread::of(seconds(rounds).zip(seconds(others)).map(|(took, other)| took / other)))
}

struct Ratio(Spread);

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Spread { median, low, high } = self.0;
        write!(f, "{median:.2} ({low:.2}–{high:.2})")
    }
}
