//! Who asks: credentials, and how long they are kept.
//!
//! A request waits for them before it begins. The time that a person or a program takes to give them is none of its own:
//! the SDK would count it as that of an attempt, give up, and ask again.

use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use tokio::sync::OnceCell;

use super::super::{Answer, Pending};
use super::check_text;

/// Gives credentials, again when they have expired.
pub trait CredentialsSource: fmt::Debug + Send + Sync {
    /// Those to be used now.
    fn credentials(&self) -> Pending<AccessKeys>;
}

/// Credentials.
#[derive(Clone)]
pub struct AccessKeys {
    /// Who asks.
    pub access_key_id: String,
    /// What only they know.
    pub secret_access_key: String,
    /// Marks credentials that expire.
    pub session_token: Option<String>,
    /// When they do.
    pub expires_at: Option<SystemTime>,
}

/// Without the secrets, which nobody wants in a log.
impl fmt::Debug for AccessKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessKeys").field("access_key_id", &self.access_key_id).finish_non_exhaustive()
    }
}

impl CredentialsSource for AccessKeys {
    fn credentials(&self) -> Pending<AccessKeys> {
        Box::pin(ready(Ok(self.clone())))
    }
}

impl AccessKeys {
    fn checked(self) -> Answer<Self> {
        const CODE: &str = "InvalidCredentials";
        check_text("accessKeyId", &self.access_key_id, CODE)?;
        if let Some(token) = &self.session_token {
            check_text("sessionToken", token, CODE)?;
        }
        Ok(self)
    }
}

/// The same for the SDK.
#[derive(Debug)]
pub(super) struct Provider(pub(super) Arc<dyn CredentialsSource>);

impl ProvideCredentials for Provider {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        let source = Arc::clone(&self.0);
        future::ProvideCredentials::new(async move {
            let keys = source.credentials().await;
            let keys = keys.and_then(AccessKeys::checked).map_err(CredentialsError::provider_error)?;
            let AccessKeys { access_key_id, secret_access_key, session_token, expires_at } = keys;
            Ok(Credentials::new(access_key_id, secret_access_key, session_token, expires_at, "strands-native"))
        })
    }
}

/// The last credentials that were given.
#[derive(Clone, Debug)]
pub(super) struct KeptCredentials {
    source: SharedCredentialsProvider,
    /// Whoever finds old ones puts an empty cell here, which all who need new ones fill together.
    last: Arc<Mutex<Arc<OnceCell<Kept>>>>,
}

#[derive(Debug)]
struct Kept {
    credentials: Credentials,
    /// When to ask for others.
    until: SystemTime,
}

impl KeptCredentials {
    /// Those that `source` gives.
    pub(super) fn new(source: SharedCredentialsProvider) -> Self {
        KeptCredentials { source, last: Arc::default() }
    }

    /// Asks for credentials if there are none yet, or old ones.
    pub(super) async fn renew(&self) -> Result<(), CredentialsError> {
        let now = SystemTime::now();
        let last = self.last(|last| {
            if last.get().is_some_and(|kept| kept.until <= now) {
                *last = Arc::default();
            }
        });
        self.fill(&last).await.map(drop)
    }

    fn last(&self, change: impl FnOnce(&mut Arc<OnceCell<Kept>>)) -> Arc<OnceCell<Kept>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut last);
        Arc::clone(&last)
    }

    async fn fill(&self, cell: &OnceCell<Kept>) -> Result<Credentials, CredentialsError> {
        /// A request that begins before this time ends before the credentials expire. As in the SDK.
        const BEFORE_EXPIRY: Duration = Duration::from_secs(10);
        /// How long those are kept that do not say when they expire. As in the SDK.
        const UNTOLD: Duration = Duration::from_secs(15 * 60);

        let ask = || async {
            let credentials = self.source.provide_credentials().await?;
            let expiry = credentials.expiry().unwrap_or_else(|| SystemTime::now() + UNTOLD);
            let until = expiry.checked_sub(BEFORE_EXPIRY).unwrap_or(SystemTime::UNIX_EPOCH);
            Ok(Kept { credentials, until })
        };
        cell.get_or_try_init(ask).await.map(|kept| kept.credentials.clone())
    }
}

/// Gives what is kept, since an attempt has no time for others.
impl ProvideCredentials for KeptCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async {
            let last = self.last(|_| {});
            self.fill(&last).await
        })
    }
}
