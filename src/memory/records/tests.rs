use super::*;
use crate::memory::json::{MAX_DEPTH, Value, lay_out, value_of};
use proptest::prelude::*;

fn contents(text: &str) -> Result<Vec<String>, Fault> {
    let mut contents = Vec::new();
    parse(text, |record| contents.push(record.content.to_str_lossy().into_owned()))?;
    Ok(contents)
}

fn fault(text: &str) -> String {
    match contents(text).expect_err("a fault") {
        Fault::Json(SyntaxError { position, problem }) => format!("{position}: {problem}"),
        Fault::Records(problem) => problem,
    }
}

const RECORD: &str = r#"{"id":"1","content":"c","createdAt":"t"}"#;

#[test]
fn records_are_found_whatever_surrounds_their_fields() {
    let text = "\u{feff} [ {\"x\":[1,{}],\r\n\"content\":\"a\\u0062\",\"id\":\"1\",\"metadata\":null,\
                \"createdAt\":\"t\",\"content\":\"last\"} ,\t{\"id\":\"2\",\"content\":\"\",\"createdAt\":\"\"} ] \n";
    assert_eq!(contents(text).unwrap(), ["last", ""]);
    assert_eq!(contents("[]").unwrap(), [""; 0]);
}

#[test]
fn json_faults_name_line_and_column() {
    assert_eq!(fault(""), "line 1, column 1: unexpected end of the file");
    assert_eq!(fault("  \n "), "line 2, column 2: unexpected end of the file");
    assert_eq!(fault(r#"[{"id":"1""#), "line 1, column 11: expected ',' or '}' after a value");
    assert_eq!(fault(&format!("[{RECORD}]\n x")), "line 2, column 2: unexpected text after the end of the JSON value");
    assert_eq!(fault("[\n{\"é\": tru}]"), "line 2, column 7: expected a JSON value");
    assert_eq!(fault("\u{feff}x"), "line 1, column 1: expected a JSON value");
    for text in ["[1,]", "[{,}]", "[01]", "[1.]", "[-]", "[1e]", "[\"\\x\"]", "[\"\\u12\"]", "[\"\n\"]", "[}", "[+1]"] {
        assert!(matches!(contents(text), Err(Fault::Json(_))), "{text}");
    }
}

#[test]
fn json_that_is_not_records_is_named_and_placed() {
    assert_eq!(fault("{}"), "expected a JSON array of records");
    assert_eq!(fault("null"), "expected a JSON array of records");
    assert_eq!(
        fault(&format!("[{RECORD},\n{{\"id\":\"2\",\"createdAt\":\"t\"}}]")),
        "each record must have string 'id', 'content', and 'createdAt' fields (record 2, line 2, column 1)"
    );
    assert_eq!(fault("[3]"), "each record must be a JSON object (record 1, line 1, column 2)");
    let with_list = RECORD.replace("\"id\"", "\"metadata\":[],\"id\"");
    assert!(fault(&format!("[{with_list}]")).starts_with("a record's 'metadata', when present, must be a JSON object"));
}

#[test]
fn bytes_that_are_not_utf8_are_placed() {
    assert_eq!(text_of(b"[\xff]"), Err(Fault::Records("byte 2 is not UTF-8".to_owned())));
    let Err(Fault::Records(problem)) = text_of(&[0xff, 0xfe, b'[', 0]) else { panic!("a fault") };
    assert!(problem.contains("UTF-16"));
}

#[test]
fn numbers_words_keys_and_escapes_are_laid_out_untouched() {
    let compact = r#"[{"b":1161888007138312192,"a":1.0,"a":1e22,"n":[NaN,-Infinity,{}],"s":"\ud800\u0041"},[ ]]"#;
    let expected = "[\n  {\n    \"b\": 1161888007138312192,\n    \"a\": 1.0,\n    \"a\": 1e22,\n    \"n\": [\n      \
                    NaN,\n      -Infinity,\n      {}\n    ],\n    \"s\": \"\\ud800\\u0041\"\n  },\n  []\n]";
    assert_eq!(lay_out(compact), expected);
    assert_eq!(lay_out(expected), expected);
    assert_eq!(lay_out("\u{feff}[\r\n]"), "[]");
}

#[test]
fn a_written_record_is_what_stringify_writes() {
    let mut json = String::from("[");
    write_record(&mut json, true, "i", &"a\n\"b\"".into(), "t", None);
    write_record(&mut json, false, "j", &"é".into(), "u", Some(r#"{"k":[],"l":{"m":1}}"#));
    json.push_str("\n]");
    let expected = r#"[
  {
    "id": "i",
    "content": "a\n\"b\"",
    "createdAt": "t"
  },
  {
    "id": "j",
    "content": "é",
    "createdAt": "u",
    "metadata": {
      "k": [],
      "l": {
        "m": 1
      }
    }
  }
]"#;
    assert_eq!(json, expected);
}

#[test]
fn nesting_is_bounded_and_needs_no_stack() {
    let nested = |levels: usize| format!("[{{\"m\":{}{}}}]", "[".repeat(levels), "]".repeat(levels));
    assert!(matches!(contents(&nested(MAX_DEPTH - 2)), Err(Fault::Records(_))), "deep enough is only not a record");
    assert!(fault(&nested(MAX_DEPTH - 1)).contains("nested too deep"));
    assert!(fault(&nested(1_000_000)).contains("nested too deep"));
    let metadata = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    assert_eq!(check_metadata(&metadata(MAX_DEPTH - 2)), Ok(()));
    assert!(check_metadata(&metadata(MAX_DEPTH - 1)).is_err());
    assert_eq!(check_metadata("[]"), Err("it must be a JSON object"));
}

#[test]
fn values_are_read_as_javascript_reads_them() {
    let value = value_of(r#"{"big":1161888007138312193,"zero":-0,"huge":1e400,"nan":NaN,"list":[true,null,"\ud800"]}"#);
    let Value::Object(entries) = value else { panic!("an object") };
    let numbers: Vec<f64> = entries
        .iter()
        .filter_map(|(_, value)| if let Value::Number(number) = value { Some(*number) } else { None })
        .collect();
    assert_eq!(numbers[0], 1161888007138312193_u64 as f64);
    assert!(numbers[1] == 0.0 && numbers[1].is_sign_negative());
    assert_eq!(numbers[2], f64::INFINITY);
    assert!(numbers[3].is_nan());
    let Value::Array(list) = &entries[4].1 else { panic!("a list") };
    assert_eq!(list[..2], [Value::Bool(true), Value::Null]);
    assert_eq!(list[2], Value::String(Wtf8::from_utf16(&[0xd800])));
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(serde_json::Value::from),
    ];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        number,
        "\\PC{0,8}".prop_map(serde_json::Value::from),
        ".{0,4}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::btree_map("\\PC{0,6}", inner, 0..5)
                .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn laying_out_keeps_every_value_and_agrees_with_serde(value in any_json()) {
        let compact = serde_json::to_string(&value).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(lay_out(&compact), pretty.clone());
        prop_assert_eq!(lay_out(&pretty), pretty);
    }

    #[test]
    fn any_text_is_either_json_for_serde_too_or_a_fault(text in "[\\[\\]{},:\"a\\\\0-9.eE+ -]{0,16}") {
        let ours = !matches!(contents(&text), Err(Fault::Json(_)));
        let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert_eq!(ours, theirs, "{}", text);
    }

    #[test]
    fn damaged_files_never_panic(text in "\\PC{0,40}", cut in 0usize..200) {
        let mut json = String::from("[");
        write_record(&mut json, true, "i", &text.as_str().into(), "t", Some(r#"{"k":[1,"\u0000"]}"#));
        json.push_str("\n]");
        prop_assert_eq!(contents(&json).unwrap(), vec![text]);
        if let Some(cut) = json.get(..cut.min(json.len() - 1)) {
            prop_assert!(contents(cut).is_err());
        }
    }
}
