#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "traces/trace_collector.h"
#include "traces/trace_text.h"
#include "traces/traced_device.h"

namespace tutti {

/// Reads the traces of a run, one or more ranks: PyTorch's `.json` or `.json.gz`, or what Nsight Systems exported as
/// SQLite. Their devices, by rank. The rank is the one that the trace names, or its file's name or folder ("rank10");
/// processes without one are counted, in the list's order. Events without a time are left out, with a warning.
///
/// Errors name the file and, where it is damaged, the byte; Fault::missing where a trace has no work of a device,
/// Fault::usage where two files are of the same rank.
Result<std::vector<TracedDevice>> import_traces(const std::vector<std::filesystem::path>& files,
                                                const TraceOptions& options);

/// Reads a trace of PyTorch's profiler, as Kineto writes it, into `collector`. `name` is the file's, for errors.
/// Returns the rank of its process; none where it was alone.
///
/// Fault::corrupt where the text is no such trace, with the byte.
Result<std::optional<int>> read_kineto(ReadText text, const std::string& name, TraceCollector& collector);

/// Whether a file begins as an SQLite database does.
bool is_sqlite(const std::filesystem::path& file);

/// Reads what `nsys export --type sqlite` made of a recording into `collector`: kernels, copies and memory sets, the
/// calls that launched them, and NVTX ranges as annotations.
///
/// Fault::corrupt where the database is damaged, Fault::unsupported where it is none of Nsight Systems.
Result<void> read_nsight(const std::filesystem::path& file, TraceCollector& collector);

}  // namespace tutti
