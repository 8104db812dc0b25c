//! A program with the client as it is by default, whose key and base URL are in its environment: it says the name of an
//! agent, or what went wrong, with the reasons below it.

use std::error::Error;
use std::io::{self, Write as _};

use shadway::Client;
use shadway::types::ListParams;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let said = ask().await.unwrap_or_else(|error| {
        let mut said = error.to_string();
        let mut reason = error.source();
        while let Some(error) = reason {
            said += &format!(": {error}");
            reason = error.source();
        }
        said
    });
    writeln!(io::stdout(), "{said}")
}

async fn ask() -> shadway::Result<String> {
    let agents = Client::from_env()?.agents().list(ListParams::new()).max_retries(0).await?;
    Ok(agents.data.into_iter().map(|agent| agent.name).collect())
}
