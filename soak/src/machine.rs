//! What the system knows of a process: its sockets and its memory. By Linux's `/proc`.

use std::fs;
use std::io;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// The bytes of this process that are allocated and not freed.
pub(crate) fn heap() -> usize {
    let stats = HEAP.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

/// How many sockets a process has open.
pub(crate) fn sockets(process: u32) -> io::Result<usize> {
    let links = fs::read_dir(format!("/proc/{process}/fd"))?.filter_map(Result::ok);
    // One that is closed meanwhile has no link any more.
    let targets = links.filter_map(|link| fs::read_link(link.path()).ok());
    Ok(targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count())
}

/// The most memory that a process ever had, in bytes.
pub(crate) fn peak(process: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes * 1024).ok_or_else(|| io::Error::other("no VmHWM in /proc"))
}
