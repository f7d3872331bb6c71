//! Expressions on records of a merge, about what filters added to these, too.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use vestige_workers::on_all_cores;

use crate::derived::Derived;
use crate::filter::{Evaluator, StreamFilter};
use crate::messages::ranks;
use crate::muxer::{Merge, Run};
use crate::stream::DataStream;

/// About how many records one task looks at.
const TASK_RECORDS: usize = 4096;

/// For each record of a merge, in order, whether expressions are true of it; `filter_of`
/// gives those that are bound to a data stream, `derived` is what filters added.
pub fn passing(
    merge: &Merge,
    derived: &[Arc<Derived>],
    mut filter_of: impl FnMut(&Arc<DataStream>) -> Arc<StreamFilter>,
) -> Vec<bool> {
    let mut known: HashMap<usize, Arc<StreamFilter>> = HashMap::new();
    let filters: Vec<Arc<StreamFilter>> = merge
        .batches
        .iter()
        .map(|batch| {
            let stream = &batch.stream;
            let found = known.entry(Arc::as_ptr(stream) as usize);
            Arc::clone(found.or_insert_with(|| filter_of(stream)))
        })
        .collect();
    let mut first = 0;
    let task = |runs: Vec<Run>| {
        let before = first;
        first += runs.iter().map(|run| (run.end - run.start) as usize).sum::<usize>();
        (before, runs)
    };
    let tasks: Vec<_> = merge.tasks(TASK_RECORDS).into_iter().map(task).collect();
    let look = |(first, runs): (usize, Vec<Run>)| {
        let mut passing = Vec::with_capacity(TASK_RECORDS);
        for run in runs {
            let Some((batch, records)) = merge.run(&run) else { continue };
            let Some(filter) = filters.get(run.batch as usize) else { continue };
            let packet = &batch.part(run.part).packet;
            let mut evaluator = Evaluator::new(filter, &batch.stream, packet, &batch.data);
            for record in records {
                let index = first + passing.len();
                let added = |name: &str| {
                    let mut named = derived.iter().filter(|one| one.name == name);
                    let one = named.find(|one| one.index(index).is_some())?;
                    Some((Arc::clone(&one.class), one.encoded(index)?))
                };
                passing.push(evaluator.passes_behind(record, added));
            }
        }
        passing
    };
    let parts: Vec<Vec<bool>> = on_all_cores(|| tasks.into_par_iter().map(look).collect());
    parts.concat()
}

/// For each record of a merge, in order, whether its class is wanted; `wanted` tells so for
/// the classes of each data stream, or that all of them are.
#[must_use]
pub fn of_classes(merge: &Merge, wanted: &[Option<Vec<bool>>]) -> Vec<bool> {
    let ranks = ranks(merge);
    let mut visible = Vec::with_capacity(merge.records);
    for run in &merge.runs {
        let Some((_, records)) = merge.run(run) else { continue };
        let rank = ranks.get(run.batch as usize).copied().unwrap_or(0);
        match wanted.get(rank).and_then(Option::as_ref) {
            None => visible.resize(visible.len() + records.len(), true),
            Some(classes) => visible.extend(
                records.iter().map(|one| classes.get(one.class as usize).copied().unwrap_or(false)),
            ),
        }
    }
    visible
}
