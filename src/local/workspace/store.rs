//! Resources in the order they were created, found by id, read in pages.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use crate::local::answer::{Refusal, Result};
use crate::model::page::Page;

/// The size of a page that asks for none, and the largest one (assumed).
const USUAL_LIMIT: usize = 20;
const LARGEST_LIMIT: usize = 100;

/// A number given to each resource of a kind as it is created, never again to another.
pub(crate) type Serial = u64;

/// All resources of one kind.
#[derive(Debug)]
pub(crate) struct Store<T> {
    items: BTreeMap<Serial, T>,
    serials: HashMap<String, Serial>,
    last: Serial,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self { items: BTreeMap::new(), serials: HashMap::new(), last: 0 }
    }
}

impl<T> Store<T> {
    pub(crate) fn insert(&mut self, id: &str, item: T) -> Serial {
        self.last += 1;
        self.serials.insert(id.to_owned(), self.last);
        self.items.insert(self.last, item);
        self.last
    }

    pub(crate) fn serial(&self, id: &str) -> Option<Serial> {
        self.serials.get(id).copied()
    }

    pub(crate) fn get(&self, serial: Serial) -> Option<&T> {
        self.items.get(&serial)
    }

    pub(crate) fn get_mut(&mut self, serial: Serial) -> Option<&mut T> {
        self.items.get_mut(&serial)
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// All of them, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Serial, &T)> {
        self.items.iter().map(|(serial, item)| (*serial, item))
    }

    pub(crate) fn find(&self, id: &str) -> Option<&T> {
        self.get(self.serial(id)?)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut T> {
        self.get_mut(self.serial(id)?)
    }

    /// All that were added after one, oldest first.
    pub(crate) fn after(&self, serial: Serial) -> impl Iterator<Item = (Serial, &T)> {
        let range = (Bound::Excluded(serial), Bound::Unbounded);
        self.items.range(range).map(|(serial, item)| (*serial, item))
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<T> {
        self.items.remove(&self.serials.remove(id)?)
    }

    /// One page of those to keep, oldest first.
    pub(crate) fn page<V>(
        &self,
        window: &Window,
        keep: impl Fn(&T) -> bool,
        view: impl Fn(&T) -> V,
    ) -> Result<Page<V>> {
        window.within(self.last)?;
        Ok(page(window, self.after(window.after).filter(|(_, item)| keep(item)), view))
    }
}

/// One page of what follows the window's start. The cursor names the last item of the page, so that it stays
/// valid whatever is added meanwhile.
pub(crate) fn page<'a, T: 'a, V>(
    window: &Window,
    following: impl Iterator<Item = (Serial, &'a T)>,
    view: impl Fn(&T) -> V,
) -> Page<V> {
    let mut rest = following.peekable();
    let mut data = Vec::new();
    let mut last = window.after;
    while data.len() < window.limit {
        let Some((serial, item)) = rest.next() else { break };
        last = serial;
        data.push(view(item));
    }
    let cursor = rest.peek().is_some().then(|| format!("{CURSOR}{last:016x}"));
    Page::new(data, cursor)
}

/// One page of a list that only grows.
pub(crate) fn page_of<T: Clone>(list: &[T], window: &Window) -> Result<Page<T>> {
    window.within(list.len() as Serial)?;
    let numbered = (1..).zip(list);
    Ok(page(window, numbered.filter(|(serial, _)| *serial > window.after), T::clone))
}

const CURSOR: &str = "cur_";

/// Which part of a list is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    limit: usize,
    after: Serial,
}

impl Window {
    /// The number of the item after which it begins.
    pub(crate) fn after(&self) -> Serial {
        self.after
    }

    /// Refuses a cursor beyond all that there is.
    pub(crate) fn within(&self, last: Serial) -> Result<()> {
        if self.after > last { Err(unknown_cursor()) } else { Ok(()) }
    }

    pub(crate) fn parse(limit: Option<&str>, cursor: Option<&str>) -> Result<Self> {
        let limit = match limit.map(str::parse) {
            None => USUAL_LIMIT,
            Some(Ok(limit)) if (1..=LARGEST_LIMIT).contains(&limit) => limit,
            Some(_) => {
                let message = format!("the limit has to be a number from 1 to {LARGEST_LIMIT}");
                return Err(Refusal::bad_request(message).param("limit"));
            }
        };
        let after = match cursor {
            None => 0,
            Some(cursor) => cursor
                .strip_prefix(CURSOR)
                .filter(|digits| digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .and_then(|digits| Serial::from_str_radix(digits, 16).ok())
                .ok_or_else(unknown_cursor)?,
        };
        Ok(Self { limit, after })
    }
}

fn unknown_cursor() -> Refusal {
    Refusal::bad_request("the cursor is none that this list gave").param("cursor")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: u32) -> Store<u32> {
        let mut store = Store::default();
        for number in 0..count {
            store.insert(&format!("id_{number}"), number);
        }
        store
    }

    fn page(store: &Store<u32>, limit: &str, cursor: Option<&str>) -> Page<u32> {
        store.page(&Window::parse(Some(limit), cursor).unwrap(), |_| true, |number| *number).unwrap()
    }

    #[test]
    fn pages_follow_one_another_also_when_something_is_added() {
        let mut store = numbers(3);
        let first = page(&store, "2", None);
        assert_eq!(first.data, [0, 1]);
        store.insert("id_new", 9);
        let second = page(&store, "2", first.next_cursor());
        assert_eq!((second.data, second.next_cursor), (vec![2, 9], None));
    }

    #[test]
    fn a_last_page_that_is_full_has_no_cursor_and_filters_are_kept_to() {
        assert_eq!(page(&numbers(2), "2", None).next_cursor, None);
        let even = |limit, cursor: Option<&str>| {
            let window = Window::parse(Some(limit), cursor).unwrap();
            numbers(5).page(&window, |number| number % 2 == 0, |number| *number).unwrap()
        };
        let first = even("2", None);
        assert_eq!(first.data, [0, 2]);
        assert_eq!(even("2", first.next_cursor()).data, [4]);
    }

    #[test]
    fn limits_and_cursors_are_checked() {
        let usual = Window::parse(None, None).unwrap();
        assert_eq!(usual, Window { limit: 20, after: 0 });
        for limit in ["0", "101", "-1", "ten", ""] {
            assert!(Window::parse(Some(limit), None).is_err(), "{limit}");
        }
        for cursor in ["", "1", "cur_1", "cur_+000000000000001", "cur_zzzzzzzzzzzzzzzz"] {
            assert!(Window::parse(None, Some(cursor)).is_err(), "{cursor}");
        }
        let beyond = Window::parse(None, Some("cur_00000000000000ff")).unwrap();
        assert!(numbers(3).page(&beyond, |_| true, |number| *number).is_err());
    }
}
