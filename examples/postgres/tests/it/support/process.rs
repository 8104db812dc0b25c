//! One of the two programs, to be stopped in the middle of its work, and killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};

/// Killed after the test.
pub(crate) struct Process {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Process {
    pub(crate) fn consumer(database: &str, service: &str, key: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_consumer"));
        command.env("DATABASE_URL", database).env("SHADWAY_BASE_URL", service).env("SHADWAY_API_KEY", key);
        Self::start(command)
    }

    pub(crate) fn receiver(database: &str, secret: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_receiver"));
        command.env("DATABASE_URL", database).env("SHADWAY_WEBHOOK_SECRET", secret);
        command.env("LISTEN", "127.0.0.1:0");
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let (lines, heard) = (BufReader::new(child.stdout.take().unwrap()), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                heard.lock().unwrap().push(line);
            }
        });
        Self { child, said }
    }

    /// As the database knows it.
    pub(crate) fn name(&self, program: &str) -> String {
        format!("{program} {}", self.child.id())
    }

    /// The first line that begins with this, without it, if it has been said.
    pub(crate) fn said(&self, start: &str) -> Option<String> {
        self.said.lock().unwrap().iter().find_map(|line| line.strip_prefix(start)).map(str::to_owned)
    }

    /// Stops it where it is, with all that it holds.
    pub(crate) fn freeze(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
    }

    pub(crate) fn thaw(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    /// `kill -9`
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let said = self.said.lock().unwrap().join("\n");
            let _ = std::io::Write::write_fmt(
                &mut std::io::stderr(),
                format_args!("{}: {said}\n", self.child.id()),
            );
        }
    }
}
