//! Certificates made for a test, and TLS in front of a server that speaks plain HTTP.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};

/// Whatever goes wrong here.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// One who signs certificates, whom nobody knows yet.
#[derive(Debug)]
pub struct Root(CertifiedIssuer<'static, KeyPair>);

/// What a server shows of itself, and proves with its key.
#[derive(Debug)]
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Root {
    /// A new one of this name.
    ///
    /// # Errors
    /// No key could be made.
    pub fn new(name: &str) -> Result<Self, BoxError> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// Its certificate, as trust stores have it.
    #[must_use]
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A server of this name or address.
    ///
    /// # Errors
    /// The name is none.
    pub fn signs(&self, host: &str) -> Result<Identity, BoxError> {
        self.sign(CertificateParams::new([host.to_owned()])?)
    }

    /// The same, until the year 2001.
    ///
    /// # Errors
    /// The name is none.
    pub fn signed_once(&self, host: &str) -> Result<Identity, BoxError> {
        let mut params = CertificateParams::new([host.to_owned()])?;
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Result<Identity, BoxError> {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.0)?.der().clone();
        Ok(Identity { certificate, key: PrivatePkcs8KeyDer::from(key.serialize_der()) })
    }
}

/// What became of a connection to a [`Front`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Ended {
    /// The client didn't like what it was shown, and nothing it might have said was read.
    BeforeTls(String),
    /// What it said went on to the server behind.
    Spoke,
}

/// TLS in front of a server, at a port of its own.
#[derive(Debug)]
pub struct Front {
    url: String,
    ended: mpsc::UnboundedReceiver<Ended>,
    serving: JoinHandle<()>,
}

impl Front {
    /// Starts it with what it shows of itself, before the server at an `http` URL that has nothing but an address.
    ///
    /// # Errors
    /// The URL is another, or there is no port.
    pub async fn start(identity: Identity, behind: &str) -> Result<Self, BoxError> {
        let behind: SocketAddr = behind.trim_start_matches("http://").parse()?;
        let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate], identity.key.into())?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("https://{}", listener.local_addr()?);
        let (sender, ended) = mpsc::unbounded_channel();
        let serving = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let (acceptor, sender) = (acceptor.clone(), sender.clone());
                tokio::spawn(async move {
                    // That nobody listens any more is no matter.
                    let _ = sender.send(serve(connection, &acceptor, behind).await);
                });
            }
        });
        Ok(Self { url, ended, serving })
    }

    /// Where it listens, such as `https://127.0.0.1:49152`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What became of the next connection, once it is over.
    pub async fn ended(&mut self) -> Option<Ended> {
        self.ended.recv().await
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(connection: TcpStream, acceptor: &TlsAcceptor, behind: SocketAddr) -> Ended {
    let mut connection = match acceptor.accept(connection).await {
        Ok(connection) => connection,
        Err(error) => return Ended::BeforeTls(error.to_string()),
    };
    if let Ok(mut server) = TcpStream::connect(behind).await {
        // A client that goes without a farewell has spoken all the same.
        let _ = copy_bidirectional(&mut connection, &mut server).await;
    }
    Ended::Spoke
}
