//! The model as a program: captured once, run without the model's code.

use crate::classify::load;
use crate::data::{Digit, DigitBatcher};
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::{Dataset, InMemDataset};
use burn::prelude::*;
use burn::tensor::{CapturedGraph, DynTensor};
use std::error::Error;
use std::fs;
use std::path::Path;

/// Captures the saved model on the whole test split, and writes the program with its weights.
pub fn export(
    test: &InMemDataset<Digit>,
    folder: &Path,
    program: &Path,
) -> Result<(), Box<dyn Error>> {
    let device = Device::capture();
    let model = load(folder, &device)?;
    let images = whole(test, &device)?;
    let mut scores = None;
    let captured = device.capture_scope(|scope| {
        let output = model.forward(images.clone());
        let boundary = (images.capture_id(), output.capture_id());
        scores = Some(output);
        scope.complete(boundary.0, boundary.1)
    })?;
    println!("{}", captured.graph);
    let mut bytes = Vec::new();
    ciborium::into_writer(&captured, &mut bytes)?;
    fs::write(program, bytes)
        .map_err(|error| format!("cannot write {}: {error}", program.display()))?;
    println!("wrote {}", program.display());
    Ok(())
}

/// Runs an exported program on the test split and compares it, bit by bit, with the saved model.
pub fn replay(
    test: &InMemDataset<Digit>,
    folder: &Path,
    program: &Path,
    device: &Device,
) -> Result<(), Box<dyn Error>> {
    let bytes =
        fs::read(program).map_err(|error| format!("cannot read {}: {error}", program.display()))?;
    let captured: CapturedGraph = ciborium::from_reader(bytes.as_slice())?;
    let images = whole(test, device)?;
    let mut outputs = device.replay(&captured, vec![DynTensor::from(images.clone())])?;
    let scores: Tensor<2> = outputs
        .pop()
        .ok_or("the program yields nothing")?
        .into_rank()?;
    let expected = load(folder, device)?.forward(images);
    match scores.try_into_data()?.as_bytes() == expected.try_into_data()?.as_bytes() {
        true => println!("{} scores, the same bits as the model's", test.len()),
        false => return Err("the program and the model disagree".into()),
    }
    Ok(())
}

fn whole(test: &InMemDataset<Digit>, device: &Device) -> Result<Tensor<2>, Box<dyn Error>> {
    let digits = test.iter().collect::<Result<Vec<_>, _>>()?;
    Ok(DigitBatcher.batch(digits, device).images)
}
