//! The sockets: what comes over them goes the same way as what comes from a transport in memory.

use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};

use super::entry::Entry;

/// How long to wait when no connection can be taken: others have to be closed first.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until it is told to stop, then ends those that are open as soon as they have answered.
pub(crate) async fn serve(listener: TcpListener, entry: Entry, stopped: impl Future<Output = ()>) {
    let connections = GracefulShutdown::new();
    let mut stopped = pin!(stopped);
    loop {
        let connection = match select(pin!(accept(&listener)), stopped.as_mut()).await {
            Either::Left((connection, _)) => connection,
            Either::Right(_) => break,
        };
        let entry = entry.clone();
        let answer =
            service_fn(move |request: http::Request<_>| entry.clone().answer(request.map(Body::new)));
        // A service that fails closes the connection, and writes nothing more on it.
        let served = http1::Builder::new().serve_connection(TokioIo::new(connection), answer);
        let served = connections.watch(served);
        tokio::spawn(async move {
            // Errors of single connections are theirs.
            let _ = served.await;
        });
    }
    drop(listener);
    connections.shutdown().await;
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((connection, _)) => {
                // Without it answers are slower, and nothing else.
                let _ = connection.set_nodelay(true);
                return connection;
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
