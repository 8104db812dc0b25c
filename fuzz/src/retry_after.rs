//! `Retry-After`: seconds, each form of an HTTP date, or anything; and that no wait goes beyond its bound.
//!
//! The input is eight bytes, a number, and then what is sent.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What a call waits for at most, and what a stream waits at most.
const CALL: Duration = Duration::from_secs(60);
const STREAM: Duration = Duration::from_secs(60 * 60);
const BACKOFF: Duration = Duration::from_millis(1_234);
const N: u64 = 1_760_000_000;
/// The last second that jiff knows, a day before the year 10000.
const LAST: u64 = 253_402_207_200;

pub fn check(input: &[u8]) {
    let (number, text) = input.split_at(input.len().min(8));
    let number = number.iter().fold(0, |sum: u64, byte| (sum << 8) | u64::from(*byte));
    anything(text);
    retry(number);
    seconds(number);
    date(number % (LAST + 1));
}

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(N)
}

/// The wish, once the bounds of what is done about it have been looked at.
fn wish(text: &[u8]) -> Option<Duration> {
    let (wish, delay) = shadway::fuzzing::retry_after(text, now(), BACKOFF)?;
    match wish {
        None => assert_eq!(delay, Some(BACKOFF)),
        Some(wish) if wish <= CALL => assert_eq!(delay, Some(wish)),
        Some(_) => assert_eq!(delay, None, "nobody waits that long"),
    }
    for random in [0.0, 1.0] {
        let delay = shadway::fuzzing::reconnect_delay(random, None, wish);
        assert!(delay <= STREAM, "{delay:?}");
        assert!(delay >= wish.unwrap_or_default().min(STREAM), "{delay:?} is sooner than asked for");
    }
    wish
}

fn anything(text: &[u8]) {
    let found = wish(text);
    // What a header can hold.
    let plain = text.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let Some(text) = std::str::from_utf8(text).ok().filter(|_| plain) else {
        return assert_eq!(found, None);
    };
    let trimmed = text.trim();
    if !trimmed.is_empty() && trimmed.bytes().all(|byte| byte.is_ascii_digit()) {
        assert_eq!(found, Some(Duration::from_secs(trimmed.parse().unwrap_or(u64::MAX))));
    } else if let Some(found) = found {
        // No text but a date is understood, and that has its time of day in it.
        assert!(trimmed.matches(':').count() == 2, "{trimmed:?}");
        let Ok(at) = Timestamp::from_second(i64::try_from(N + found.as_secs()).unwrap()) else { return };
        let shown = at.strftime(":%M:%S").to_string();
        assert!(found.is_zero() || trimmed.contains(&shown), "{trimmed:?} became {shown}");
    }
}

/// The service's `retry`, in milliseconds.
fn retry(number: u64) {
    let delay = shadway::fuzzing::reconnect_delay(1.0, Some(number), None);
    assert!((Duration::from_millis(250)..=Duration::from_secs(60)).contains(&delay), "{delay:?}");
}

fn seconds(number: u64) {
    for text in [format!("{number}"), format!(" {number}\t"), format!("000{number}")] {
        assert_eq!(wish(text.as_bytes()), Some(Duration::from_secs(number)), "{text:?}");
    }
    assert_eq!(wish(format!("-{number}").as_bytes()), None);
    assert_eq!(wish(format!("{number}.5").as_bytes()), None);
}

/// The three forms of a date. The second has two digits of the year, which mean the years 1970 to 2069.
fn date(second: u64) {
    let at = Timestamp::from_second(i64::try_from(second).unwrap()).unwrap().to_zoned_datetime(TimeZone::UTC);
    let right = Some(Duration::from_secs(second.saturating_sub(N)));
    for form in ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"] {
        if form.contains("%y") && !(1970..2070).contains(&at.year()) {
            continue;
        }
        let text = at.strftime(form).to_string();
        assert_eq!(wish(text.as_bytes()), right, "{text:?}");
    }
}
