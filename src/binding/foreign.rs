//! JavaScript objects that are not ours, seen from Rust, and the script that handles them where Rust cannot.

use std::cell::RefCell;

use napi::bindgen_prelude::*;

use super::error::wrong_type;
use super::{options, questions};
use crate::atomic_file::is_internal_name;
use crate::storage::Storage;
use crate::storage::namespace::Namespace;

/// The source of the script.
const SCRIPT: &str = include_str!("foreign.js");

thread_local! {
    /// What the script gave in the environment of this JavaScript thread.
    static FUNCTIONS: RefCell<Option<ObjectRef<false>>> = const { RefCell::new(None) };
}

/// Runs the script, if it has not been run in this environment, and tells it which classes the module exports.
pub fn init(env: &Env, exports: &Object<'_>) -> Result<()> {
    FUNCTIONS.with_borrow_mut(|known| {
        if known.is_none() {
            let functions: Object<'_> = env.run_script(SCRIPT)?;
            *known = Some(functions.create_ref()?);
            // The thread may go on to another environment, in which this reference means nothing.
            env.add_env_cleanup_hook((), |()| drop(FUNCTIONS.take()))?;
        }
        Ok::<_, Error>(())
    })?;
    let mut lent = Object::new(env)?;
    let is_internal_name = |context: FunctionCallContext<'_>| {
        let name: Unknown<'_> = context.get(0)?;
        Ok(is_internal_name(&options::lossy_text(context.env, "name", name)?))
    };
    let view_prefix = |context: FunctionCallContext<'_>| {
        let prefix = options::prefix(context.env, context.get(0)?)?;
        Ok(Namespace::<dyn Storage>::prefix_of(&prefix))
    };
    lent.set("isInternalName", env.create_function_from_closure::<(), _, _>("isInternalName", is_internal_name)?)?;
    lent.set("viewPrefix", env.create_function_from_closure::<(), _, _>("viewPrefix", view_prefix)?)?;
    lent.set("settle", questions::settle(env)?)?;
    call(env, "adopt", (*exports, lent))
}

/// Calls a function of the script.
pub fn call<Arguments, Output>(env: &Env, name: &str, arguments: Arguments) -> Result<Output>
where
    FnArgs<Arguments>: JsValuesTupleIntoVec,
    Output: FromNapiValue,
{
    function::<FnArgs<Arguments>, Output>(env, name)?.call(arguments.into())
}

/// A function or class of the script.
pub fn function<'env, Arguments: JsValuesTupleIntoVec, Output>(
    env: &'env Env,
    name: &str,
) -> Result<Function<'env, Arguments, Output>> {
    FUNCTIONS.with_borrow(|functions| match functions {
        Some(functions) => functions.get_value(env)?.get_named_property_unchecked(name),
        None => Err(Error::from_reason("the addon was not initialised on this thread")),
    })
}

/// What a storage was given: its strategy, by `strategyOf`, or its sandbox, by `sandboxOf`.
pub fn attached<'env>(env: &'env Env, getter: &str, storage: &Object<'env>) -> Result<Option<Object<'env>>> {
    options::given(env, getter, call(env, getter, (*storage,))?)
}

/// Checks that a constructor was called with `new`: on an instance of its class or of a subclass.
///
/// # Errors
/// The `TypeError` that classes written in JavaScript give.
pub fn check_constructed(env: &Env, this: Unknown<'_>, class_name: &str) -> Result<()> {
    let is_instance: bool = call(env, "isConstructed", (class_name, this))?;
    let message = || format!("Class constructor {class_name} cannot be invoked without 'new'");
    if is_instance { Ok(()) } else { Err(wrong_type(env, message())) }
}

/// `result`, with the JavaScript exception that it stands for, if one is pending: it would otherwise be thrown at the
/// next return to JavaScript, whatever is returned.
pub fn caught<T>(env: &Env, result: Result<T>) -> Result<T> {
    let Err(error) = result else { return result };
    let mut is_pending = false;
    let mut exception = std::ptr::null_mut();
    // SAFETY: the environment is the one that this call came from, on its own thread, and both values outlive the calls.
    unsafe {
        sys::napi_is_exception_pending(env.raw(), &mut is_pending);
        if !is_pending || sys::napi_get_and_clear_last_exception(env.raw(), &mut exception) != sys::Status::napi_ok {
            return Err(error);
        }
    }
    // SAFETY: the value was given by the environment a moment ago, in the present handle scope.
    let exception = unsafe { Unknown::from_raw_unchecked(env.raw(), exception) };
    Err(Error::from_unknown_without_coercion(exception))
}
