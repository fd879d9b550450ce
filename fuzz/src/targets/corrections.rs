//! Saved corrections: a map that is accepted never sends time backwards.

use retime::{LocationIndex, SavedClock, Timestamp};

pub(super) fn files() -> Vec<Vec<u8>> {
    [
        r#"[{"knots":[[0,1000]]}]"#,
        r#"[{"locations":[1],"knots":[[0,0],[1000000,1000100]]},{"knots":[[5,7,9]]}]"#,
        r#"[{"locations":[0],"knots":[[1100,1100],[2000,2100,2400]],"steps":[[2000,0,3,2200]]}]"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub(super) fn check(input: &[u8]) -> String {
    let clocks: Vec<SavedClock> = match serde_json::from_slice(input) {
        Ok(clocks) => clocks,
        // Its words quote the input, so that nearly all would be new.
        Err(error) => return format!("refused: {:?}", error.classify()),
    };
    for clock in clocks {
        let map = match clock.to_map(|id| u32::try_from(id).ok().map(LocationIndex)) {
            Ok(map) => map,
            Err(error) => return format!("refused: {error}"),
        };
        let mut cursor = map.cursor(LocationIndex(0));
        let near = map.knots().iter().flat_map(|knot| {
            let raw = knot.raw.0;
            [raw.saturating_sub(1), raw, raw.saturating_add(1)]
        });
        let mut raws: Vec<u64> = near.chain([0, 1, u64::MAX]).collect();
        raws.sort_unstable();
        let mut before = Timestamp(0);
        for raw in raws {
            if let Some(now) = cursor.map_time(Timestamp(raw)) {
                assert!(before <= now, "{raw} comes before what was earlier");
                before = now;
                let _ = map.invert(now);
            }
        }
    }
    "taken".into()
}
