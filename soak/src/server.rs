//! The server, as a process of its own: what is counted of this one is then the client's alone.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use fastrand::Rng;
use serde_json::{Value, json};
use shadway::local::{LocalClock, LocalServer};

/// How many times as fast as the machine's its clock runs. The faster, the more begins and ends, of as many that are under
/// way at a time.
const SPEED: u32 = 5;
/// What the agent can do; an action that is named in a mandate's `requireApproval` is asked for.
pub(crate) const CAPABILITIES: [&str; 2] = ["email.send", "email.get_delivery"];
/// Scripts that differ in how long they take.
pub(crate) const PACES: u64 = 6;

/// Runs one until the end of the input. The first line of the output is its address.
#[expect(clippy::print_stdout, reason = "it is what its parent reads")]
pub(crate) async fn serve(seed: u64) -> Result<(), Box<dyn Error + Send + Sync>> {
    let server = LocalServer::builder().clock(LocalClock::Faster(SPEED)).seed(seed).start().await?;
    println!("{}", server.url());
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    server.shutdown().await;
    Ok(())
}

/// The process. Dropping it ends it.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(seed: u64) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", "--seed", &seed.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = child.stdout.take().ok_or("the server has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        Ok(Self { child, url: line.trim().to_owned() })
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // Either it has ended by itself, or it is of no use any more.
        let _ = self.child.wait();
    }
}

/// What the agent does, by the names that the mandates have for it in their metadata.
pub(crate) fn scripts(random: &mut Rng) -> Value {
    let mut scripts = Vec::new();
    for pace in 0..PACES {
        let mut wait = |most: u32| json!({"wait": random.u32(20..most)});
        let send = json!({"act": {"capability": CAPABILITIES[0], "arguments": {"to": "sales@atlas.example", "body": "A quote, please."}}});
        let look = json!({"act": {"capability": CAPABILITIES[1], "arguments": {"message": "msg_1"}}});
        let begin = json!({"work": "Reading what there is."});
        let end = json!({"complete": "Done."});
        let ask = json!({"ask": {"question": "What is the code?", "fields": ["otp"]}});
        scripts.extend([
            json!({"when": {"metadata": {"script": format!("act-{pace}")}},
                "steps": [begin, wait(120), send, wait(200), look, wait(100), end]}),
            json!({"when": {"metadata": {"script": format!("ask-{pace}")}},
                "steps": [begin, wait(120), ask, wait(200), look, end]}),
            json!({"when": {"metadata": {"script": format!("fail-{pace}")}},
                "steps": [begin, wait(200), look, wait(200), json!({"fail": "It can't be done."})]}),
        ]);
    }
    json!({ "scripts": scripts })
}
