//! The requests that the AWS SDK makes: the only file that names it.
//!
//! Settings are looked for where all tools of AWS look for them, at the first request and not before. Retries and
//! time-outs are the SDK's. A checksum is sent only with requests that S3 refuses without one, since many servers of
//! other makes refuse those that have one.
//!
//! A panic of the SDK is a fault of the request.

mod credentials;

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use aws_config::{BehaviorVersion, SdkConfig};
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_s3::config::retry::{RetryConfig, RetryPartition};
use aws_sdk_s3::config::timeout::TimeoutConfig;
use aws_sdk_s3::config::{Config, Region, RequestChecksumCalculation, ResponseChecksumValidation};
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::RequestId;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::EncodingType;
use aws_types::os_shim_internal::Env;
use aws_types::service_config::ServiceConfigKey;
use bytes::Bytes;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use super::{Answer, Content, Object, Page, Pending, Requests};
use crate::error::{Error, Fault};
pub use credentials::{AccessKeys, CredentialsSource};
use credentials::{KeptCredentials, Provider};

/// What is not left to the environment.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The region, such as `eu-central-1`.
    pub region: Option<String>,
    /// The URL of a server other than those of AWS.
    pub endpoint: Option<String>,
    /// Whether the bucket stands in the path and not in the name of the host.
    pub force_path_style: bool,
    /// Who asks.
    pub credentials: Option<Arc<dyn CredentialsSource>>,
    /// The environment, if it is not that of the process.
    pub variables: Option<Arc<dyn VariablesSource>>,
    /// How often a request is made before its fault counts.
    pub max_attempts: Option<u32>,
    /// The longest that one attempt may take.
    pub request_timeout: Option<Duration>,
    /// The longest that making a connection may take.
    pub connect_timeout: Option<Duration>,
}

/// Variables of an environment.
pub type Variables = HashMap<String, String>;

/// Gives variables in place of those of the process, which no other thread than JavaScript's can read safely: it may
/// change them meanwhile.
pub trait VariablesSource: fmt::Debug + Send + Sync {
    /// Those of now.
    fn variables(&self) -> Pending<Variables>;
}

/// Makes the requests to one bucket.
#[derive(Clone, Debug)]
pub struct Client(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    bucket: String,
    settings: Settings,
    connected: OnceCell<Connected>,
    /// One for each request that may be under way.
    turns: Semaphore,
}

#[derive(Debug)]
struct Connected {
    client: aws_sdk_s3::Client,
    credentials: Option<KeptCredentials>,
}

impl Client {
    /// At most so many requests are under way, which bounds the connections too. Others wait for those.
    const MOST_REQUESTS: usize = 128;

    /// Loads nothing and connects to nothing.
    pub fn new(bucket: &str, settings: Settings) -> Self {
        let (bucket, turns) = (bucket.to_owned(), Semaphore::new(Self::MOST_REQUESTS));
        Client(Arc::new(Connection { bucket, settings, connected: OnceCell::new(), turns }))
    }

    fn run<T: Send + 'static, F: Future<Output = Answer<T>> + Send + 'static>(
        &self,
        request: impl FnOnce(aws_sdk_s3::Client, Arc<Connection>) -> F + Send + 'static,
    ) -> Pending<T> {
        let connection = Arc::clone(&self.0);
        let answer = async move {
            let _turn = connection.turns.acquire().await;
            check_bucket(&connection.bucket)?;
            let connected = connection.connected.get_or_try_init(|| connection.settings.connect()).await?;
            if let Some(credentials) = &connected.credentials {
                credentials.renew().await.map_err(|error| network_fault(&error))?;
            }
            request(connected.client.clone(), Arc::clone(&connection)).await
        };
        Box::pin(async { tokio::spawn(answer).await.unwrap_or_else(|panic| Err(panicked(panic))) })
    }
}

impl Requests for Client {
    fn put(&self, object: String, data: Bytes) -> Pending<()> {
        self.run(|client, connection| async move {
            let request = client.put_object().bucket(&connection.bucket).key(object).body(ByteStream::from(data));
            request.send().await.map(drop).map_err(fault)
        })
    }

    fn get(&self, object: String) -> Pending<Content> {
        self.run(|client, connection| async move {
            let request = client.get_object().bucket(&connection.bucket).key(object);
            let output = request.send().await.map_err(fault)?;
            let request_id = output.request_id().map(str::to_owned);
            let etag = output.e_tag.unwrap_or_default();
            let body = async {
                output
                    .body
                    .collect()
                    .await
                    .map_err(|error| Fault { request_id: request_id.clone(), ..network_fault(&error) })
            };
            let body = match connection.settings.request_timeout {
                Some(most) => timeout(most, body).await.unwrap_or_else(|_| Err(late_body(most, request_id.clone())))?,
                None => body.await?,
            };
            Ok(Content { data: body.into_bytes(), etag })
        })
    }

    fn head(&self, object: String) -> Pending<()> {
        self.run(|client, connection| async move {
            let request = client.head_object().bucket(&connection.bucket).key(object);
            request.send().await.map(drop).map_err(fault)
        })
    }

    fn delete(&self, object: String) -> Pending<()> {
        self.run(|client, connection| async move {
            let request = client.delete_object().bucket(&connection.bucket).key(object);
            request.send().await.map(drop).map_err(fault)
        })
    }

    fn list(&self, prefix: String, page: Option<String>) -> Pending<Page> {
        self.run(|client, connection| async move {
            let request = client.list_objects_v2().bucket(&connection.bucket).prefix(prefix);
            let request = request.encoding_type(EncodingType::Url).set_continuation_token(page);
            let output = request.send().await.map_err(fault)?;
            let is_encoded = output.encoding_type == Some(EncodingType::Url);
            let is_truncated = output.is_truncated == Some(true);
            let objects = output.contents.unwrap_or_default().into_iter();
            let objects =
                objects.filter_map(|object| Some(Object { name: object.key?, etag: object.e_tag.unwrap_or_default() }));
            Ok(Page { objects: objects.collect(), is_encoded, is_truncated, next: output.next_continuation_token })
        })
    }
}

impl Settings {
    async fn connect(&self) -> Answer<Connected> {
        let variables = match &self.variables {
            Some(source) => Some(source.variables().await?),
            None => None,
        };
        // A panic: settings that the SDK for JavaScript ignores, such as the retry mode `legacy` in a profile.
        let environment = match self.load(variables.clone(), None).await {
            Err(_) => self.load(variables, Some(RetryConfig::standard())).await.map_err(panicked)?,
            Ok(environment) => environment,
        };
        let Some(region) = environment.region() else {
            let message = "no region is set: pass `region`, or set AWS_REGION or the region of a profile";
            return Err(Fault { code: "MissingRegion".to_owned(), message: message.to_owned(), request_id: None });
        };
        check_text("the region", region.as_ref(), "InvalidRegion")?;
        let mut config = Config::from(&environment)
            .to_builder()
            .force_path_style(self.force_path_style)
            // What fails at one server takes no attempts from another.
            .retry_partition(RetryPartition::custom("strands-native").build())
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
        let endpoint = self.endpoint.clone().or_else(|| configured_endpoint(&environment));
        config.set_endpoint_url(endpoint.as_deref().map(ending_in_slash));
        if let Some(attempts) = self.max_attempts {
            let retries = environment.retry_config().cloned().unwrap_or_else(RetryConfig::standard);
            config.set_retry_config(Some(retries.with_max_attempts(attempts)));
        }
        let mut timeouts = environment.timeout_config().map(TimeoutConfig::to_builder).unwrap_or_default();
        if let Some(timeout) = self.request_timeout {
            timeouts.set_operation_attempt_timeout(Some(timeout));
        }
        if let Some(timeout) = self.connect_timeout {
            timeouts.set_connect_timeout(Some(timeout));
        }
        let credentials = environment.credentials_provider().map(KeptCredentials::new);
        config.set_credentials_provider(credentials.clone().map(SharedCredentialsProvider::new));
        let client = aws_sdk_s3::Client::from_conf(config.timeout_config(timeouts.build()).build());
        Ok(Connected { client, credentials })
    }
}

impl Settings {
    /// What the environment says, where it is not said here.
    fn load(&self, variables: Option<Variables>, retries: Option<RetryConfig>) -> JoinHandle<SdkConfig> {
        let mut loader = aws_config::defaults(BehaviorVersion::latest());
        if let Some(variables) = variables {
            loader = loader.env(Env::from(usable(variables)));
        }
        if let Some(retries) = retries {
            loader = loader.retry_config(retries);
        }
        if let Some(region) = &self.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(source) = &self.credentials {
            loader = loader.credentials_provider(Provider(Arc::clone(source)));
        }
        tokio::spawn(loader.load())
    }
}

/// The variables without those at which the SDK panics or goes astray, and other SDKs do not. One of them is a variable
/// with nothing in it, by which scripts and containers say that it is not set.
fn usable(mut variables: Variables) -> Variables {
    variables.retain(|name, value| match name.as_str() {
        "AWS_RETRY_MODE" => matches!(value.as_str(), "standard" | "adaptive"),
        "AWS_MAX_ATTEMPTS" => value.parse::<u32>().is_ok_and(|attempts| attempts > 0),
        _ => !value.is_empty(),
    });
    variables
}

/// The endpoint that the environment names, in a variable or in a profile: first the one for S3 alone.
fn configured_endpoint(environment: &SdkConfig) -> Option<String> {
    let key = ServiceConfigKey::builder().service_id("S3").env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
    let for_s3 = environment.service_config().and_then(|settings| settings.load_config(key.ok()?));
    for_s3.or_else(|| environment.endpoint_url().map(str::to_owned))
}

/// To the path of this URL, the SDK adds the bucket without a slash.
fn ending_in_slash(url: &str) -> String {
    format!("{}/", url.trim().trim_end_matches('/'))
}

/// Refuses what would not stay one part of a path. The name of an access point may have slashes.
fn check_bucket(name: &str) -> Answer<()> {
    if name.starts_with("arn:") || !(matches!(name, "" | "." | "..") || name.contains('/')) {
        return Ok(());
    }
    let message = format!("'{name}' names no bucket: it is empty, a step of a path, or has a slash in it");
    Err(Fault { code: "InvalidBucketName".to_owned(), message, request_id: None })
}

/// Refuses what no header can hold, at which the SDK panics.
fn check_text(name: &str, text: &str, code: &str) -> Answer<()> {
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    let message = format!("{name} has a character that it cannot have, such as a space or the end of a line");
    Err(Fault { code: code.to_owned(), message, request_id: None })
}

/// What remains of a panic, or of a task that was given up with its runtime.
fn panicked(error: JoinError) -> Fault {
    let message = match error.try_into_panic() {
        Ok(panic) => Error::from_panic(panic.as_ref()).to_string(),
        Err(error) => error.to_string(),
    };
    Fault { code: "InternalError".to_owned(), message, request_id: None }
}

fn late_body(most: Duration, request_id: Option<String>) -> Fault {
    let message = format!("the bytes of the object did not come within {} ms", most.as_millis());
    Fault { code: "TimeoutError".to_owned(), message, request_id }
}

/// What became of a request that failed.
fn fault<E: StdError + ProvideErrorMetadata + 'static>(error: SdkError<E>) -> Fault {
    let request_id = error.request_id().map(str::to_owned);
    let SdkError::ServiceError(answer) = &error else { return Fault { request_id, ..network_fault(&error) } };
    let status = answer.raw().status().as_u16();
    // A page of some other server is no answer of S3 about an object.
    let is_empty = answer.raw().body().bytes().is_none_or(<[u8]>::is_empty);
    let unnamed = || if status == 404 && is_empty { "NotFound".to_owned() } else { format!("HTTP {status}") };
    let code = error.code().map_or_else(unnamed, str::to_owned);
    let message = error.message().map_or_else(|| format!("the server answered with status {status}"), str::to_owned);
    Fault { code, message, request_id }
}

/// A fault that no server named: the operating system's name for it where there is one, as Node has it.
fn network_fault(error: &(dyn StdError + 'static)) -> Fault {
    let mut messages: Vec<String> = Vec::new();
    for message in chain(error).map(ToString::to_string) {
        // Some of them repeat what is below.
        if !messages.last().is_some_and(|above| above.contains(&message)) {
            messages.push(message);
        }
    }
    let code = chain(error).find_map(code_of).unwrap_or("RequestFailed".to_owned());
    Fault { code, message: messages.join(": "), request_id: None }
}

/// An error and what is below it.
fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn code_of(error: &(dyn StdError + 'static)) -> Option<String> {
    if let Some(fault) = error.downcast_ref::<Fault>() {
        return Some(fault.code.clone());
    }
    if error.is::<CredentialsError>() {
        return Some("CredentialsProviderError".to_owned());
    }
    #[cfg(unix)]
    if let Some(number) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
        return Some(format!("{:?}", nix::errno::Errno::from_raw(number)));
    }
    /// The types that say so are private, or of crates below the SDK.
    const SIGNS: [(&str, &str); 6] = [
        ("timeout", "TimeoutError"),
        ("minimum throughput", "TimeoutError"),
        ("closed before message completed", "ECONNRESET"),
        ("end of file before message length reached", "ECONNRESET"),
        ("unexpected EOF", "ECONNRESET"),
        ("dns error", "ENOTFOUND"),
    ];
    let message = error.to_string();
    SIGNS.iter().find(|(sign, _)| message.contains(sign)).map(|(_, code)| (*code).to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;
    use crate::error::Result;
    use crate::storage::Storage;
    use crate::storage::key::Key;
    use crate::storage::s3::S3Storage;

    /// What a server that answers with this status is asked for `p/k`, and what comes of it.
    fn exists(status: &'static str) -> (String, Result<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines().map_while(io::Result::ok);
            let request = lines.next().unwrap();
            lines.find(String::is_empty);
            write!(connection, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").unwrap();
            request
        });
        let settings = Settings {
            region: Some("us-east-1".to_owned()),
            endpoint: Some(endpoint),
            force_path_style: true,
            credentials: Some(Arc::new(AccessKeys {
                access_key_id: "id".to_owned(),
                secret_access_key: "secret".to_owned(),
                session_token: None,
                expires_at: None,
            })),
            max_attempts: Some(1),
            ..Settings::default()
        };
        let storage = S3Storage::new("bucket", "p", Arc::new(Client::new("bucket", settings)));
        let exists = storage.exists(&Key::parse("k").unwrap());
        (server.join().unwrap(), exists)
    }

    #[test]
    fn whether_an_object_exists_is_asked_without_its_bytes() {
        for (status, expected) in [("200 OK", true), ("404 Not Found", false)] {
            let (request, exists) = exists(status);
            assert_eq!((request.as_str(), exists.unwrap()), ("HEAD /bucket/p/k HTTP/1.1", expected));
        }
        let Err(Error::S3Read { source, .. }) = exists("403 Forbidden").1 else { panic!("a refusal is no answer") };
        assert_eq!(source.code, "HTTP 403");
    }
}
