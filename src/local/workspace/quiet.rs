//! Quiet hours: when actions rest, by the clock on the wall of a place.

use jiff::civil::Time;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan as _};

use super::authority::invalid_authority;
use crate::local::answer::{Refusal, Result};
use crate::model::authority::QuietHours;

/// Quiet hours that make sense.
#[derive(Debug)]
pub(super) struct Quiet {
    start: Time,
    end: Time,
    zone: TimeZone,
}

impl Quiet {
    /// Reads them, or says which part can't be kept to.
    pub(super) fn read(hours: &QuietHours) -> Result<Self> {
        let refuse = |field: &str, why: String| -> Refusal {
            invalid_authority(why).param(format!("authority.quietHours.{field}"))
        };
        let time = |field: &str, text: &str| {
            time_of_day(text).ok_or_else(|| refuse(field, format!("{text:?} is no time of day as \"22:00\"")))
        };
        let (start, end) = (time("start", &hours.start)?, time("end", &hours.end)?);
        if start == end {
            return Err(refuse("end", "quiet hours that end when they begin are none".to_owned()));
        }
        // The database that is built in, so that the machine's, or that it has none, makes no difference.
        let zone = TimeZoneDatabase::bundled().get(&hours.timezone).ok().filter(|zone| !zone.is_unknown());
        let zone =
            zone.ok_or_else(|| refuse("timezone", format!("there is no time zone {:?}", hours.timezone)))?;
        Ok(Self { start, end, zone })
    }

    /// When those end that are now; `None` when it is not quiet.
    pub(super) fn until(&self, now: Timestamp) -> Option<Timestamp> {
        self.holds(now).then(|| self.end_after(now).unwrap_or(Timestamp::MAX))
    }

    fn end_after(&self, now: Timestamp) -> Option<Timestamp> {
        let mut day = self.zone.to_datetime(now).date();
        // Today or tomorrow; a day more where a clock is set by hours.
        for _ in 0..3 {
            let end = self.zone.to_ambiguous_timestamp(day.to_datetime(self.end));
            let ends = [end.earlier(), end.later()].into_iter().flatten();
            if let Some(end) = ends.filter(|end| *end > now && !self.holds(*end)).min() {
                return Some(end);
            }
            day = day.checked_add(1.day()).ok()?;
        }
        None
    }

    fn holds(&self, now: Timestamp) -> bool {
        let time = self.zone.to_datetime(now).time();
        if self.start < self.end {
            self.start <= time && time < self.end
        } else {
            // They go on past midnight.
            self.start <= time || time < self.end
        }
    }
}

/// "07:00", and nothing that only resembles it.
fn time_of_day(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let number = |digits: &str| -> Option<i8> {
        let two = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        two.then(|| digits.parse().ok()).flatten()
    };
    Time::new(number(hour)?, number(minute)?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(hours: (&str, &str, &str), now: &str) -> Option<String> {
        let quiet = Quiet::read(&QuietHours::new(hours.0, hours.1, hours.2)).unwrap();
        quiet.until(now.parse().unwrap()).map(|end| end.to_string())
    }

    #[test]
    fn they_are_told_by_the_clock_of_the_place_and_go_past_midnight() {
        let paris = ("22:00", "07:00", "Europe/Paris");
        let seven = Some("2026-01-05T06:00:00Z".to_owned());
        assert_eq!(until(paris, "2026-01-04T20:59:59Z"), None);
        assert_eq!(until(paris, "2026-01-04T21:00:00Z"), seven);
        assert_eq!(until(paris, "2026-01-05T05:59:59Z"), seven);
        assert_eq!(until(paris, "2026-01-05T06:00:00Z"), None);
        // In summer it is an hour earlier.
        assert_eq!(until(paris, "2026-07-05T20:00:00Z"), Some("2026-07-06T05:00:00Z".to_owned()));
        let lunch = ("12:00", "13:30", "Asia/Kolkata");
        assert_eq!(until(lunch, "2026-01-05T06:30:00Z"), Some("2026-01-05T08:00:00Z".to_owned()));
        assert_eq!(until(lunch, "2026-01-05T08:00:00Z"), None);
    }

    #[test]
    fn an_hour_that_is_skipped_or_comes_twice_ends_them_all_the_same() {
        let new_york = ("22:00", "02:30", "America/New_York");
        // 02:30 does not exist on that day: the clock goes from two to three.
        assert_eq!(until(new_york, "2026-03-08T06:00:00Z"), Some("2026-03-08T07:30:00Z".to_owned()));
        assert_eq!(until(new_york, "2026-03-08T07:00:00Z"), None);
        let fold = ("22:00", "01:30", "America/New_York");
        assert_eq!(until(fold, "2026-11-01T05:10:00Z"), Some("2026-11-01T05:30:00Z".to_owned()));
        assert_eq!(until(fold, "2026-11-01T06:10:00Z"), Some("2026-11-01T06:30:00Z".to_owned()));
    }

    #[test]
    fn hours_that_nobody_could_keep_to_are_refused() {
        let param = |start: &str, end: &str, zone: &str| {
            let refusal = Quiet::read(&QuietHours::new(start, end, zone)).unwrap_err();
            assert_eq!(refusal.error().0, 422);
            refusal.named().unwrap().strip_prefix("authority.quietHours.").unwrap().to_owned()
        };
        for text in ["24:00", "7:00", "07:60", "0700", "", "+7:00", "07:00:00", "07:00 "] {
            assert_eq!(param(text, "08:00", "UTC"), "start", "{text}");
            assert_eq!(param("09:00", text, "UTC"), "end", "{text}");
        }
        assert_eq!(param("09:00", "09:00", "UTC"), "end");
        for zone in ["Europe/Atlantis", "", "+01:00", "Etc/Unknown"] {
            assert_eq!(param("09:00", "10:00", zone), "timezone", "{zone}");
        }
    }
}
