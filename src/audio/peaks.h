#pragma once

#include <cstddef>
#include <vector>

#include "audio/sample_reader.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// The loudest sample, 0..1, of each of `columns` equal parts of [start, stop): what a picture of a waveform shows.
/// Parts outside of the recording are silence. Reads each sample of the stretch once, in blocks.
Result<std::vector<float>> peaks_of(const SampleReader& recording, Seconds start, Seconds stop, std::size_t columns);

}  // namespace tutti
