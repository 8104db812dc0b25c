//! `fixtures/matrix.md`: which call is of which class, and what comes of each fault.

use std::collections::BTreeMap;

use super::cell::Mode;

const TEXT: &str = include_str!("../../../fixtures/matrix.md");

/// What calls have in common that end alike. In the order of the table's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Read,
    Change,
    Delete,
    Wait,
    Watch,
    Stream,
    Watched,
}

impl Class {
    pub(crate) fn changes(self) -> bool {
        matches!(self, Self::Change | Self::Delete)
    }

    /// Whether it is more than one call, and all it sends meets a fault.
    pub(crate) fn waits(self) -> bool {
        matches!(self, Self::Wait | Self::Watch)
    }
}

const CLASSES: [(&str, Class); 7] = [
    ("read", Class::Read),
    ("change", Class::Change),
    ("delete", Class::Delete),
    ("wait", Class::Wait),
    ("watch", Class::Watch),
    ("stream", Class::Stream),
    ("watched", Class::Watched),
];

/// So many of them are one call, with a deadline of its own.
const SHORT: usize = 3;

/// What is to come of a fault that happens once, of one that happens always, and of one with little time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) once: String,
    pub(crate) always: String,
    /// Where that is another one.
    pub(crate) short: Option<String>,
}

impl Expected {
    /// `once; always; short of time`, or what is the same for the first two, or for the last two.
    fn parse(cell: &str) -> Self {
        let mut parts = cell.split("; ").map(str::to_owned);
        let once = parts.next().unwrap_or_default();
        let always = parts.next().unwrap_or_else(|| once.clone());
        Self { once, always, short: parts.next() }
    }

    pub(crate) fn of(&self, mode: Mode) -> &str {
        match mode {
            Mode::Once => &self.once,
            Mode::Always => &self.always,
            Mode::ShortOfTime => self.short.as_ref().unwrap_or(&self.always),
        }
    }
}

pub(crate) struct Table {
    pub(crate) calls: BTreeMap<String, Class>,
    /// The methods that are no row.
    pub(crate) others: Vec<String>,
    faults: BTreeMap<String, BTreeMap<Class, Expected>>,
    /// By call and fault.
    pub(crate) exceptions: BTreeMap<(String, String), Expected>,
}

impl Table {
    pub(crate) fn read() -> Self {
        let faults = lines("Faults of the local server").chain(lines("Faults of raw bytes")).map(|cells| {
            assert_eq!(cells.len(), 1 + CLASSES.len(), "{cells:?}");
            let expected = cells[1..].iter().map(|cell| Expected::parse(cell));
            (cells[0].clone(), CLASSES.iter().map(|(_, class)| *class).zip(expected).collect())
        });
        let mut faults: BTreeMap<_, BTreeMap<_, _>> = faults.collect();
        for cells in lines("Short of time") {
            let fault = faults.get_mut(&cells[0]).expect("a fault of the tables above");
            assert_eq!(cells.len(), 1 + SHORT, "{cells:?}");
            for (cell, (_, class)) in cells[1..].iter().zip(CLASSES) {
                let expected: &mut Expected = fault.get_mut(&class).expect("each class");
                expected.short = Some(cell.clone());
            }
        }
        let class = |name: &str| CLASSES.iter().find(|(known, _)| *known == name).expect("a class").1;
        let exceptions = lines("Exceptions")
            .map(|cells| ((cells[0].clone(), cells[1].clone()), Expected::parse(&cells[2])));
        Self {
            calls: lines("Calls").map(|cells| (cells[0].clone(), class(&cells[1]))).collect(),
            others: lines("Methods that are no row").map(|cells| cells[0].clone()).collect(),
            faults,
            exceptions: exceptions.collect(),
        }
    }

    pub(crate) fn class(&self, call: &str) -> Class {
        assert!(self.calls.contains_key(call), "{call} has no class in the table");
        self.calls[call]
    }

    pub(crate) fn expected(&self, call: &str, fault: &str) -> Expected {
        assert!(self.faults.contains_key(fault), "{fault} has no line in the table");
        let exception = self.exceptions.get(&(call.to_owned(), fault.to_owned()));
        exception.unwrap_or_else(|| &self.faults[fault][&self.class(call)]).clone()
    }

    pub(crate) fn faults(&self) -> impl Iterator<Item = &str> {
        self.faults.keys().map(String::as_str)
    }
}

/// The cells of a section's table, without its head, and without the marks of code.
fn lines(section: &str) -> impl Iterator<Item = Vec<String>> {
    let text = TEXT.split(&format!("\n## {section}\n")).nth(1).expect("the section").split("\n## ").next();
    let rows = text.unwrap_or_default().lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect())
}
