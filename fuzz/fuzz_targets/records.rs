//! Whatever is taken for a memory file keeps every record to the letter when it is laid out anew.
#![no_main]

use libfuzzer_sys::fuzz_target;
use strands_native::memory::json;
use strands_native::memory::records;

fn spans(text: &str) -> Option<Vec<json::Value>> {
    let mut values = Vec::new();
    records::parse(text, |record| values.push(json::value_of(&text[record.span]))).ok().map(|()| values)
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = records::text_of(bytes) else { return };
    let Some(values) = spans(text) else { return };
    let laid_out = json::lay_out(text);
    assert_eq!(spans(&laid_out), Some(values));
});
