//! Each fault as a client meets it, over sockets and in memory.

use std::time::Duration;

use tokio::time::Instant;

use crate::Client;
use crate::agents::AgentCreateParams;
use crate::call::Call;
use crate::local::LocalServer;
use crate::mandates::{Mandate, MandateCreateParams};
use crate::transport::{Sleep, Timer};

mod calls;
mod sockets;
mod streams;

/// A test twice: in memory on a paused clock, and over sockets.
macro_rules! both_ways {
    ($($name:ident)*) => {
        mod in_memory {
            $(#[tokio::test(start_paused = true)]
            async fn $name() {
                super::$name(super::Way::Memory).await;
            })*
        }
        mod over_sockets {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Way::Sockets).await;
            })*
        }
    };
}
use both_ways;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Memory,
    Sockets,
}

/// A server, a client of it, and an agent.
struct World {
    server: LocalServer,
    client: Client,
    agent: String,
    way: Way,
}

impl World {
    async fn new(way: Way) -> Self {
        let server = LocalServer::builder().seed(7).start().await.unwrap();
        let builder = Client::builder().api_key(server.api_key());
        let client = match way {
            Way::Memory => builder.http_service(server.service()),
            Way::Sockets => builder.base_url(server.url()).timer(Hurried(Instant::now())),
        };
        let client = client.build().unwrap();
        let agent = AgentCreateParams::new("Assistant", "p/m").capabilities(["email.send"]);
        let agent = client.agents().create(agent).await.unwrap().id.to_string();
        Self { server, client, agent, way }
    }

    /// The creation of a mandate, always under the same key.
    fn creation(&self) -> Call<Mandate> {
        let params = MandateCreateParams::new(&self.agent, "Ask for a quote.");
        self.client.mandates().create(params).idempotency_key("quote")
    }

    /// How many requests for this route came, and met a fault.
    fn requests(&self, route: &str) -> (usize, usize) {
        let requests = self.server.requests();
        let requests: Vec<_> = requests.iter().filter(|request| request.route == route).collect();
        (requests.len(), requests.iter().filter(|request| request.fault.is_some()).count())
    }
}

/// A client's time over sockets, where it can't be paused: twenty times as fast as this machine's.
#[derive(Debug)]
struct Hurried(Instant);

impl Timer for Hurried {
    fn now(&self) -> std::time::Instant {
        (self.0 + self.0.elapsed() * 20).into_std()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration / 20))
    }
}
