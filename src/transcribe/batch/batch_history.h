#pragma once

#include <optional>
#include <vector>

#include "jobs/history.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_report.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// Writes the device events since the last call into the store.
void record_news(DevicePool& pool, RunHistory& history, RunId run);

/// Closes the run in the store's history, with what each device did and how fast it was.
void end_in_store(const BatchReport& report, const JobRunOptions& options, RunHistory& history, RunId run);

/// How fast a device has been as a whole, at its full window capacity, in this run and in earlier ones. Earlier runs
/// count by the `known` speed of that key, with as much audio as it was measured with, an hour at most. The latest
/// record with another capacity counts by as much less as the two numbers differ. So a run of one short clip, which
/// pays for a whole window, does not make the next plan one of days. A sample is half a minute of audio. None: there is
/// less audio than a sample.
std::optional<SpeedRecord> whole_speed(const PooledDeviceView& device, const SpeedKey& key,
                                       const std::vector<SpeedRecord>& known);

}  // namespace tutti
