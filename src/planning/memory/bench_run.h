#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "planning/memory/device_memory.h"
#include "transcribe/bench.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// What `tutti bench` compares.
struct BenchChoice {
  std::string devices = "auto";             ///< separated by commas; auto: the CPU and every GPU
  std::string compute_types = "auto";       ///< likewise; auto: those worth a comparison
  std::vector<std::int32_t> batch_sizes{};  ///< empty: those worth one
};

/// The words of a list that commas separate; none is empty.
std::vector<std::string> bench_words(const std::string& list);

/// The settings of all devices, one device after the other.
std::vector<BenchSetting> bench_settings(const BenchChoice& choice);

/// What is known of the memory of each device that the settings name. One that need not be here counts by its model.
std::map<std::string, DeviceMemory> memory_of_devices(const std::vector<BenchSetting>& settings);

/// Removes settings in types that their devices do not have; the log names each type once a device.
void leave_out_impossible(std::vector<BenchSetting>& settings, const std::map<std::string, DeviceMemory>& devices);

/// Runs all settings; `on_trial` gets each, scored as far as that is known then. A setting that cannot run here is one
/// of the results. What would fail every setting alike (a recording, or Fault::usage for what is valid nowhere) ends
/// it.
Result<BenchResult> measure_settings(const std::vector<std::filesystem::path>& files,
                                     const std::vector<BenchSetting>& settings, const TranscribeOptions& common,
                                     StopSignal& stop, const std::function<void(const ScoredTrial&)>& on_trial);

}  // namespace tutti
