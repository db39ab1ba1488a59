//! Link flags for a Node addon, if there is a binding to link.

fn main() {
    #[cfg(feature = "binding")]
    napi_build::setup();
}
