//! Runs programs of elementwise steps block by block, while a block is in the first-level cache.
//!
//! A single instruction is a program of one step, so that a fused group computes the same bits. Planning a group is in
//! [`fuse`](crate::fuse); what a step does to a block is in [`block`](crate::block), where it reads from in
//! [`source`](crate::source).

use crate::FlexTensor;
use crate::block::{ARGS, BLOCK, Numbers, Step};
use crate::nontemporal;
use crate::parallel::{Shared, split};
use crate::source::{Input, Source, fill};
use crate::tensor::{Layout, allocate};
use alloc::vec::Vec;
use burn_ir::TensorMeta;
use burn_std::{Bytes, Shape, Strides};
use core::mem::MaybeUninit;
use core::ops::Range;
use smallvec::SmallVec;

/// Where the current block of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Input(usize),
    Temporary(usize),
    Output(usize),
    /// For steps that take numbers.
    Constant(usize),
}

/// A step with the places it reads and writes; unused arguments repeat another. It writes to no place that it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub step: Step,
    pub args: [Place; ARGS],
    pub to: Place,
}

/// Steps in order. All outputs have one shape, which inputs broadcast to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    pub tasks: &'a [Task],
    /// The number of intermediate results that are alive at once.
    pub temporaries: usize,
    /// The most bytes that an element of them has.
    pub width: usize,
    pub constants: &'a [Numbers],
    pub outputs: &'a [TensorMeta],
}

impl Program<'_> {
    /// Whether an input can be overwritten by an output while it is read: whatever reads it comes before the step that
    /// writes the output, or is that step and can.
    fn overwrites(&self, input: usize, output: usize) -> bool {
        let writes = |task: &Task| task.to == Place::Output(output);
        let reads = |task: &Task| task.args.contains(&Place::Input(input));
        let Some(writer) = self.tasks.iter().position(writes) else {
            return false;
        };
        let may = match self.tasks[writer].step {
            Step::Mapped(..) => writer + 1,
            _ => writer,
        };
        !self.tasks[may..].iter().any(reads)
    }
}

/// A list that takes no allocation for programs of one step.
type List<T> = SmallVec<[T; 3]>;

/// Runs a program of one step.
pub(crate) fn one<const N: usize>(
    step: Step,
    mut inputs: [Input; N],
    output: &TensorMeta,
) -> FlexTensor {
    if let Some(output) = small(step, &mut inputs, output) {
        return output;
    }
    let mut args = [Place::Input(0); ARGS];
    for (at, arg) in args.iter_mut().enumerate().take(N) {
        *arg = Place::Input(at);
    }
    let program = Program {
        tasks: &[Task {
            step,
            args,
            to: Place::Output(0),
        }],
        temporaries: 0,
        width: 0,
        constants: &[],
        outputs: core::slice::from_ref(output),
    };
    run(program, &mut inputs)
        .pop()
        .expect("the program has one output")
}

/// Runs a step on a few elements that are side by side in each tensor, which most of the work in [`run`] is not worth.
fn small(step: Step, inputs: &mut [Input], output: &TensorMeta) -> Option<FlexTensor> {
    const SMALL: usize = 128;
    let (len, size) = (output.shape.num_elements(), output.dtype.size());
    if len > SMALL {
        return None;
    }
    let mut slots = [[const { MaybeUninit::<u64>::uninit() }; SMALL]; 3];
    let mut args = [core::ptr::null(); ARGS];
    let mut reused = None;
    for (at, input) in inputs.iter_mut().enumerate() {
        match input {
            Input::Scalar(bytes, size) => {
                let to = slots[at].as_mut_ptr().cast();
                // SAFETY: a scalar has this many bytes, and a slot is aligned and long enough for any element type.
                unsafe { fill(bytes.as_ptr(), *size, to, len) };
                args[at] = to.cast_const();
            }
            Input::Tensor(tensor) => {
                if tensor.shape() != &output.shape || !tensor.is_contiguous() {
                    return None;
                }
                args[at] = tensor.first();
                if reused.is_none() && tensor.dtype().size() == size {
                    let storage = tensor.unique_storage();
                    reused = storage.map(|storage| (at, storage.as_mut_ptr()));
                }
            }
        }
    }
    let Some((at, to)) = reused else {
        // SAFETY: the step writes all elements of its output.
        let mut storage = unsafe { allocate(len * size, output.dtype) };
        // SAFETY: arguments and output have `len` elements each and are aligned; the output is new.
        unsafe { step.run(args, storage.as_mut_ptr(), len) };
        return Some(FlexTensor::contiguous(output.clone(), storage));
    };
    let slot = slots[at].as_mut_ptr().cast();
    // SAFETY: as above; the argument that the output overwrites is read from a copy.
    unsafe {
        args[at].copy_to_nonoverlapping(slot, len * size);
        args[at] = slot.cast_const();
        step.run(args, to, len);
    }
    match core::mem::take(&mut inputs[at]) {
        Input::Tensor(tensor) => Some(tensor.with_dtype(output.dtype)),
        Input::Scalar(..) => unreachable!("only tensors have storage"),
    }
}

/// Runs a program. Storage of inputs that nobody else holds becomes that of outputs.
pub(crate) fn run(program: Program<'_>, inputs: &mut [Input]) -> SmallVec<[FlexTensor; 1]> {
    let shape = &program.outputs[0].shape;
    let len = shape.num_elements();
    let order = order(inputs, shape);
    let mut slots = program.temporaries;
    let (outputs, reused) = outputs(&program, inputs, order.as_deref(), len);
    let mut sources = List::new();
    for (at, input) in inputs.iter().enumerate() {
        let target = reused.iter().position(|input| *input == Some(at));
        let staged = target.is_some_and(|output| !program.overwrites(at, output));
        sources.push(Source::new(
            input,
            shape,
            order.as_deref(),
            staged,
            &mut slots,
        ));
    }
    let mut streams: List<_> = sources.iter().filter_map(Source::stream).collect();
    let read: usize = streams.iter().map(|(_, size)| size).sum();
    let written: usize = outputs.iter().map(|(_, _, size)| size).sum();
    let around = nontemporal::pays(len.saturating_mul(read + written));
    let mut targets = List::new();
    for (storage, to, size) in &outputs {
        let (to, size) = (*to, *size);
        let slot = (around && storage.is_some()).then(|| {
            slots += 1;
            slots - 1
        });
        targets.push(Target { to, size, slot });
        if storage.is_some() && slot.is_none() {
            streams.push((to, size));
        }
    }
    let widths = sources.iter().map(Source::size);
    let widths = widths.chain(targets.iter().map(|target| target.size));
    let machine = Machine {
        width: widths.fold(program.width, usize::max),
        sources,
        targets,
        streams,
        program,
        slots,
    };
    split(len, BLOCK, machine.cost(), &|range| machine.run(range));

    let layout = match &order {
        None => Layout::contiguous(shape),
        Some(order) => ordered_layout(shape, order),
    };
    let mut finished = SmallVec::new();
    for ((meta, (storage, ..)), reused) in program.outputs.iter().zip(outputs).zip(reused) {
        let (meta, layout) = (meta.clone(), layout.clone());
        let input = reused.map(|at| core::mem::take(&mut inputs[at]));
        finished.push(match (storage, input) {
            (Some(storage), _) => FlexTensor::with_layout(meta, layout, storage),
            (None, Some(Input::Tensor(input))) => input.with_meta(meta, layout),
            (None, _) => unreachable!("an output without storage reuses that of a tensor"),
        });
    }
    finished
}

/// The order of dims in which all inputs of the full shape are dense, if that is not the usual one.
///
/// Running along memory makes functions of transposed tensors as fast as those of others.
fn order(inputs: &[Input], shape: &Shape) -> Option<SmallVec<[usize; 4]>> {
    let mut full = inputs.iter().filter_map(|input| match input {
        Input::Tensor(tensor) if tensor.shape() == shape => Some(tensor),
        _ => None,
    });
    let first = full.next()?;
    if first.is_contiguous() {
        return None;
    }
    let strides = &first.layout().strides;
    if !full.all(|other| other.layout().strides == *strides) {
        return None;
    }
    let mut order: SmallVec<[usize; 4]> = (0..shape.len()).collect();
    order.sort_by_key(|dim| core::cmp::Reverse(strides[*dim]));
    let mut expected = 1;
    for dim in order.iter().rev().filter(|dim| shape[**dim] != 1) {
        if strides[*dim] != expected {
            return None;
        }
        expected *= shape[*dim] as isize;
    }
    Some(order)
}

/// The layout that is dense in this order of dims.
fn ordered_layout(shape: &Shape, order: &[usize]) -> Layout {
    let mut strides: Strides = shape.iter().map(|_| 1).collect();
    let mut stride = 1;
    for dim in order.iter().rev() {
        strides[*dim] = stride;
        stride *= shape[*dim] as isize;
    }
    Layout { strides, offset: 0 }
}

/// For each output its new storage, or none where an input gives its own; where to write, and the size of an element.
type Targets = List<(Option<Bytes>, Shared<u8>, usize)>;

/// Finds storage for the outputs, and which input each takes over.
fn outputs(
    program: &Program<'_>,
    inputs: &mut [Input],
    order: Option<&[usize]>,
    len: usize,
) -> (Targets, List<Option<usize>>) {
    let mut reused: List<Option<usize>> = List::new();
    let mut targets = Targets::new();
    for meta in program.outputs {
        let size = meta.dtype.size();
        let taken = (0..inputs.len()).find_map(|at| match &mut inputs[at] {
            Input::Tensor(tensor)
                if !reused.contains(&Some(at))
                    && tensor.dtype().size() == size
                    && tensor.len() == len
                    // In another order the strides were checked to be dense.
                    && (order.is_some() || tensor.is_contiguous()) =>
            {
                Some((at, tensor.unique_storage()?.as_mut_ptr()))
            }
            _ => None,
        });
        match taken {
            Some((at, to)) => {
                reused.push(Some(at));
                targets.push((None, Shared(to), size));
            }
            None => {
                // SAFETY: the program writes every element of its outputs.
                let mut storage = unsafe { allocate(len * size, meta.dtype) };
                let to = Shared(storage.as_mut_ptr());
                reused.push(None);
                targets.push((Some(storage), to, size));
            }
        }
    }
    (targets, reused)
}

/// Where blocks of an output go.
struct Target {
    to: Shared<u8>,
    size: usize,
    /// Where they are computed, if they are copied to `to` around the caches.
    slot: Option<usize>,
}

/// A step with the positions of its arguments and its output in a list of places.
type Call = (Step, [usize; ARGS], usize);

/// A unit of scratch memory.
#[repr(C, align(64))]
struct Line([u64; 8]);

/// A program with its sources and targets resolved.
struct Machine<'a> {
    sources: List<Source>,
    targets: List<Target>,
    /// Memory that is read or written from one end to the other, and the size of an element.
    streams: List<(Shared<u8>, usize)>,
    program: Program<'a>,
    /// Blocks of scratch memory: temporaries first, then those of sources.
    slots: usize,
    /// The most bytes that an element in scratch memory has.
    width: usize,
}

impl Machine<'_> {
    /// The cost of one element for [`split`].
    fn cost(&self) -> usize {
        let read: usize = self.sources.iter().map(Source::size).sum();
        let written: usize = self.targets.iter().map(|target| target.size).sum();
        let computed: usize = self.program.tasks.iter().map(|task| task.step.cost()).sum();
        read + written + computed + self.program.temporaries
    }

    /// Whether some of the outputs go around the caches.
    fn writes_around(&self) -> bool {
        self.targets.iter().any(|target| target.slot.is_some())
    }

    /// The largest number of elements of a block.
    fn block(&self, far: bool) -> usize {
        if self.program.tasks.len() == 1 {
            return match self.slots {
                // Nothing has to stay in the cache.
                0 => 16 * BLOCK,
                // A block, its result and the next one do.
                _ if self.writes_around() => 4 * BLOCK / self.width,
                _ => 8 * BLOCK / self.width,
            };
        }
        // What blocks may take of a small first-level cache, in bytes. Beyond the caches it is less: places of tensors are
        // often the same up to pages, and meet in the same lines of the cache with what is fetched ahead.
        let cache = if far { 8 * 1024 } else { 24 * 1024 };
        let streams: usize = self.streams.iter().map(|(_, size)| size).sum();
        // A multiple of the elements of a cache line, so that steps start at vectors.
        let len = cache / (self.slots * self.width + streams).max(1) / 64 * 64;
        len.clamp(BLOCK / 8, BLOCK)
    }

    /// Runs the program for a range of elements.
    fn run(&self, range: Range<usize>) {
        let far = self.is_far(range.len());
        let block = self.block(far).min(range.len());
        let cycle = self.sources.iter().map(|source| match source {
            Source::Cyclic { len, size, .. } => ((block + len) * size).div_ceil(size_of::<Line>()),
            _ => 0,
        });
        let lines = (block * self.width).div_ceil(size_of::<Line>());
        let lines = lines.max(cycle.max().unwrap_or(0));
        let share = block.div_ceil(self.program.tasks.len());
        // Only what was written is read, so the capacity is enough.
        let mut scratch = Vec::<Line>::with_capacity(lines * self.slots);
        let scratch = scratch.as_mut_ptr();
        let slot = |slot: usize| scratch.wrapping_add(slot * lines).cast::<u8>();
        // SAFETY: slots have room for a block of the widest elements, and for a block and a row of each cycle.
        unsafe { self.repeat(block, &slot) };
        let (calls, mut places) = self.calls(&slot);
        let mut start = range.start;
        while start < range.end {
            let part = start..self.end_of_row(start, range.end.min(start + block));
            let (inputs, others) = places.split_at_mut(self.sources.len());
            for (source, place) in self.sources.iter().zip(inputs) {
                *place = source.find(part.clone(), &slot).cast_mut();
            }
            for (target, place) in self.targets.iter().zip(others) {
                *place = match target.slot {
                    Some(at) => slot(at),
                    None => target.to.get().wrapping_add(start * target.size),
                };
            }
            for (at, (step, args, to)) in calls.iter().enumerate() {
                if far {
                    self.fetch(part.end + at * share, share);
                }
                let args = args.map(|arg| places[arg].cast_const());
                // SAFETY: sources and targets hold `range` and are aligned; slots hold a block. No task writes where it
                // reads, but for steps that may; other sources that share their memory with a target are staged.
                unsafe { step.run(args, places[*to], part.len()) };
            }
            // SAFETY: the steps above wrote the slots; targets hold `range`, and overlap no slot.
            unsafe { self.write_around(part.clone(), !far, &slot) };
            start = part.end;
        }
        if self.writes_around() {
            nontemporal::finish();
        }
    }

    /// The tasks, and the list of places that they are positions in: sources and targets, which move on from block to
    /// block, then what stays where it is.
    fn calls(&self, slot: &dyn Fn(usize) -> *mut u8) -> (List<Call>, SmallVec<[*mut u8; 8]>) {
        let Program {
            tasks,
            temporaries,
            constants,
            ..
        } = self.program;
        let targets = self.sources.len();
        let fixed = targets + self.targets.len();
        let position = |place| match place {
            Place::Input(at) => at,
            Place::Output(at) => targets + at,
            Place::Temporary(at) => fixed + at,
            Place::Constant(at) => fixed + temporaries + at,
        };
        let mut places = SmallVec::from_elem(core::ptr::null_mut(), fixed);
        places.extend((0..temporaries).map(slot));
        places.extend(
            constants
                .iter()
                .map(|numbers| numbers.as_ptr().cast_mut().cast()),
        );
        let call = |task: &Task| (task.step, task.args.map(position), position(task.to));
        (tasks.iter().map(call).collect(), places)
    }

    /// Fills the slots of sources that are the same in each block.
    ///
    /// # Safety
    /// Slots are writable for a block and a row of their source.
    unsafe fn repeat(&self, block: usize, slots: &dyn Fn(usize) -> *mut u8) {
        for source in &self.sources {
            match source {
                Source::Repeated { from, size, slot } => {
                    // SAFETY: the element is readable; the caller's promise.
                    unsafe { fill(from.get(), *size, slots(*slot), block) };
                }
                Source::Cyclic {
                    from,
                    size,
                    slot,
                    len,
                } => {
                    let (cycle, all) = (len * size, (block + len) * size);
                    for start in (0..all).step_by(cycle) {
                        let (to, part) = (slots(*slot), cycle.min(all - start));
                        // SAFETY: the row is readable; the caller's promise.
                        unsafe { to.add(start).copy_from_nonoverlapping(from.get(), part) };
                    }
                }
                Source::Linear { .. } | Source::Staged { .. } | Source::Strided { .. } => {}
            }
        }
    }

    /// Whether memory is slow enough to be asked ahead: what a core works on is more than its caches hold.
    fn is_far(&self, len: usize) -> bool {
        const CACHES: usize = 1024 * 1024;
        let read: usize = self.sources.iter().map(Source::size).sum();
        self.program.tasks.len() > 1 && len * read > CACHES
    }

    /// Asks for `len` elements of each stream from `start` on, which are a share of the next block while this one is worked
    /// on. The machine itself stops looking ahead at the end of a page, which is where blocks of 4 bytes an element end, and
    /// does not know that steps on scratch memory are followed by the next page.
    fn fetch(&self, start: usize, len: usize) {
        for (from, size) in &self.streams {
            let first = from.get().wrapping_add(start * size);
            // Addresses may be past the end: asking for them does nothing.
            for line in (0..len * size).step_by(size_of::<Line>()) {
                fetch(first.wrapping_add(line));
            }
        }
    }

    /// Copies a block of the targets that are computed in slots to where they belong. With `ahead` it asks for the next block
    /// meanwhile: memory reads and writes at the same time.
    ///
    /// # Safety
    /// The slots are readable for the block, and targets writable for `part`.
    unsafe fn write_around(
        &self,
        part: Range<usize>,
        mut ahead: bool,
        slots: &dyn Fn(usize) -> *mut u8,
    ) {
        /// Elements between two looks ahead: whole lines of cache for every size.
        const SHARE: usize = 128;
        for Target { to, size, slot } in &self.targets {
            let Some(slot) = slot else { continue };
            for at in (0..part.len()).step_by(SHARE) {
                if ahead {
                    self.fetch(part.end + at, SHARE);
                }
                let from = slots(*slot).wrapping_add(at * size);
                let to = to.get().wrapping_add((part.start + at) * size);
                let len = SHARE.min(part.len() - at) * size;
                // SAFETY: the caller's promise.
                unsafe { nontemporal::copy(from, to, len) };
            }
            ahead = false;
        }
    }

    /// Ends a block with the rows of strided sources, so that those of stride 1 are read in place.
    fn end_of_row(&self, start: usize, end: usize) -> usize {
        // In shorter rows it is faster to copy than to run the steps more often.
        const LONG: usize = BLOCK / 4;
        self.sources.iter().fold(end, |end, source| match source {
            Source::Strided { rows, .. } if rows.inner().0 >= LONG => {
                let size = rows.inner().0;
                end.min((start / size + 1) * size)
            }
            _ => end,
        })
    }
}

/// Asks for a line of memory without waiting for it.
#[inline(always)]
fn fetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
