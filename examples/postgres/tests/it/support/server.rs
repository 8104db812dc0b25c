//! A Postgres of the tests' own, on a socket in a temporary folder.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getuid, kill_process};

const NONE: &str = "no Postgres: install it (Debian: apt-get install postgresql), \
    or set SHADWAY_TEST_DATABASE_URL to a server on which databases may be made";

/// Stopped when the last test that uses it is over.
pub(crate) struct Server {
    /// Ends in front of the database's name.
    folder: tempfile::TempDir,
    process: Child,
}

impl Server {
    /// The one that other tests use at the moment, or a new one.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start());
            *shared = Arc::downgrade(&server);
            server
        })
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user=postgres", self.folder.path().display())
    }

    fn start() -> Self {
        let programs = programs();
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let user = User::of_the_server();
        if let Some(User { uid, gid }) = user {
            std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let mut initdb = command(&programs.join("initdb"), user, folder.path());
        initdb.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "--pgdata"]);
        let made = initdb.arg(&data).output().unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));

        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut postgres = command(&programs.join("postgres"), user, folder.path());
        // It outlives the processes that are killed here, and need not outlive a power cut.
        postgres.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"]);
        postgres.arg("-k").arg(folder.path()).arg("-D").arg(&data).stderr(log);
        let mut server = Self { process: postgres.spawn().unwrap(), folder };
        server.wait(&programs);
        server
    }

    fn wait(&mut self, programs: &Path) {
        #[expect(clippy::disallowed_methods, reason = "how long a program takes to start")]
        let began = Instant::now();
        let ready = || {
            let mut ready = Command::new(programs.join("pg_isready"));
            ready.arg("-q").arg("-h").arg(self.folder.path()).status().unwrap().success()
        };
        while !ready() {
            if self.process.try_wait().unwrap().is_some() || began.elapsed() > Duration::from_secs(30) {
                panic!("{}", std::fs::read_to_string(self.folder.path().join("log")).unwrap());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // At once, connections or not; its files go with the folder.
        let _ = kill_process(Pid::from_child(&self.process), Signal::QUIT);
        let _ = self.process.wait();
    }
}

/// Debian's newest version, or what is found by name.
fn programs() -> PathBuf {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = debian.filter_map(|version| Some(version.ok()?.path().join("bin"))).max();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = debian.into_iter().chain(std::env::split_paths(&path));
    places.find(|programs| programs.join("initdb").exists()).expect(NONE)
}

/// Whom it runs as: it refuses to run as root.
#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

impl User {
    fn of_the_server() -> Option<Self> {
        let id = |what| {
            let output = Command::new("id").args([what, "postgres"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim().parse().expect("root needs a user called postgres")
        };
        getuid().is_root().then(|| Self { uid: id("-u"), gid: id("-g") })
    }
}

fn command(program: &Path, user: Option<User>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some(User { uid, gid }) = user {
        command.uid(uid).gid(gid);
    }
    // It may not be allowed into ours, and answers ^C by itself.
    command.current_dir(folder).process_group(0).stdin(Stdio::null()).stdout(Stdio::null());
    command
}
