//! Both programs on a real Postgres. With `SHADWAY_TEST_DATABASE_URL`, of a server on which databases may be made,
//! that one; otherwise one that the tests start, of the version that is installed.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on has failed"
)]

mod consumers;
mod inbox;
mod receiver;
mod support;
mod worker;
