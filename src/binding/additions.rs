//! Additions that a store is asked for within one turn of JavaScript: written together, and answered together.
//!
//! A promise that another thread settles takes a thread-safe function of its own, which costs more than an addition does.
//! Those of a turn share one, whose value holds the answers of all of them; the script picks out the answer of each.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use napi::JsDeferred;
use napi::bindgen_prelude::*;

use super::error::to_js;
use super::foreign;
use crate::error::Error as CoreError;
use crate::memory::test_memory_store::{Done, Draft, OpenStore};

type Answer = std::result::Result<String, Arc<CoreError>>;
type Settle = Box<dyn FnOnce(Env) -> Result<Object<'static>> + Send>;

/// The additions to one store.
#[derive(Clone, Default)]
pub struct Additions(Rc<RefCell<Option<Turn>>>);

/// Those of the present turn of JavaScript.
struct Turn {
    answers: Arc<Mutex<Answers>>,
    stores: Vec<OpenStore>,
}

struct Answers {
    given: Vec<Option<Answer>>,
    missing: usize,
    is_turn_over: bool,
    deferred: Option<JsDeferred<Object<'static>, Settle>>,
}

impl Additions {
    /// A promise for the id of an addition to `store`, which is the JavaScript object `this`.
    pub fn add<'env>(
        &self,
        env: &'env Env,
        this: &Object<'_>,
        store: &OpenStore,
        draft: Draft,
    ) -> Result<PromiseRaw<'env, Object<'static>>> {
        if self.0.borrow().is_none() {
            self.begin_turn(env, this)?;
        }
        let mut turn = self.0.borrow_mut();
        let turn = turn.as_mut().ok_or_else(|| Error::from_reason("a turn of additions ended before it began"))?;
        let (number, done) = expect_answer(&turn.answers);
        store.add(draft, done);
        if !turn.stores.iter().any(|known| known.is_same(store)) {
            turn.stores.push(store.clone());
        }
        foreign::call(env, "answer", (*this, number))
    }

    fn begin_turn(&self, env: &Env, this: &Object<'_>) -> Result<()> {
        let (deferred, promise) = env.create_deferred()?;
        let answers = Answers { given: Vec::new(), missing: 0, is_turn_over: false, deferred: Some(deferred) };
        *self.0.borrow_mut() = Some(Turn { answers: Arc::new(Mutex::new(answers)), stores: Vec::new() });
        let open = Rc::clone(&self.0);
        let end = move |_: FunctionCallContext<'_>| {
            drop(open.borrow_mut().take());
            Ok(())
        };
        foreign::call(env, "beginTurn", (*this, promise, env.create_function_from_closure::<(), _, _>("end", end)?))
    }
}

/// A turn ends with the turn of JavaScript, or with its thread: others may have added to the same files meanwhile.
impl Drop for Turn {
    fn drop(&mut self) {
        update(&self.answers, |answers| answers.is_turn_over = true);
        for store in self.stores.drain(..) {
            let to_write = store.clone();
            // A thread of its own, since it may have to wait for another process.
            let thread = thread::Builder::new().name("strands-native writer".into());
            if let Err(error) = thread.spawn(move || to_write.write_waiting()) {
                store.give_up(CoreError::Internal(format!("no thread could be started to write on: {error}")));
            }
        }
    }
}

/// The number of one more answer, and what gives it.
fn expect_answer(answers: &Arc<Mutex<Answers>>) -> (u32, Done) {
    let number = update(answers, |answers| {
        answers.given.push(None);
        answers.missing += 1;
        answers.given.len() - 1
    });
    let answers = Arc::clone(answers);
    let done = move |answer| {
        update(&answers, |answers| {
            answers.given[number] = Some(answer);
            answers.missing -= 1;
        });
    };
    (u32::try_from(number).unwrap_or(u32::MAX), Box::new(done))
}

/// Settles the promise of the turn with what is the last change that it waits for.
fn update<T>(answers: &Mutex<Answers>, change: impl FnOnce(&mut Answers) -> T) -> T {
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    let changed = change(&mut answers);
    if answers.is_turn_over
        && answers.missing == 0
        && let Some(deferred) = answers.deferred.take()
    {
        let given = std::mem::take(&mut answers.given);
        deferred.resolve(Box::new(move |env| answers_to_js(&env, given)));
    }
    changed
}

/// The ids, and in their places the errors of those that there are none of.
fn answers_to_js(env: &Env, given: Vec<Option<Answer>>) -> Result<Object<'static>> {
    let mut ids: Vec<Option<String>> = Vec::with_capacity(given.len());
    let mut errors = Object::new(env)?;
    for (number, answer) in given.into_iter().enumerate() {
        ids.push(match answer {
            Some(Ok(id)) => Some(id),
            Some(Err(error)) => {
                errors.set(number.to_string(), to_js(env, &error))?;
                None
            }
            None => None,
        });
    }
    let mut answers: Object<'static> = Object::new(env)?;
    answers.set("ids", ids)?;
    answers.set("errors", errors)?;
    Ok(answers)
}
