#include "device/telemetry/smi_source.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/environment.h"
#include "base/process/child_output.h"
#include "base/strings.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

constexpr Seconds kQueryEvery{5}, kLongest{5};
constexpr Seconds kRetryEvery{30};  // where it failed or is not there
constexpr double kMiB = 1 << 20;

std::vector<std::string> split_row(std::string_view line, char by) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = line.find(by);
    parts.emplace_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    line.remove_prefix(end + 1);
  }
}

bool is_absent(std::string_view value) {
  return value.empty() || value.starts_with('[') || value == "N/A" || value == "Unknown Error";
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> times(std::string_view text, double by) {
  const auto value = number(text);
  return value ? std::optional(*value * by) : std::nullopt;
}

std::optional<Bytes> mebibytes(std::string_view text) {
  const auto value = times(text, kMiB);
  return value ? std::optional(Bytes{static_cast<std::int64_t>(*value)}) : std::nullopt;
}

std::optional<std::uint64_t> count(std::string_view text) {
  const auto value = leading_number(text);
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

void set_throttling(GpuSnapshot& gpu, std::string_view text) {
  if (!text.starts_with("0x")) return;
  std::uint64_t mask = 0;
  if (std::from_chars(text.data() + 2, text.data() + text.size(), mask, 16).ec == std::errc())
    gpu.throttled_by = throttle_reasons(mask);
}

using Setter = std::function<void(GpuSnapshot&, std::string_view)>;

/// Fields that every nvidia-smi of the last ten years has.
const std::vector<std::pair<std::string, Setter>>& basic_fields() {
  static const std::vector<std::pair<std::string, Setter>> fields{
      {"index",
       [](auto& gpu, auto text) {
         if (const auto n = leading_number(text)) gpu.index = static_cast<int>(*n);
       }},
      {"uuid", [](auto& gpu, auto text) { gpu.uuid = text; }},
      {"pci.bus_id", [](auto& gpu, auto text) { gpu.pci_bus_id = std::string(text); }},
      {"name", [](auto& gpu, auto text) { gpu.name = std::string(text); }},
      {"driver_version", [](auto&, auto) {}},
      {"memory.total", [](auto& gpu, auto text) { gpu.memory.total = mebibytes(text); }},
      {"memory.used", [](auto& gpu, auto text) { gpu.memory.used = mebibytes(text); }},
      {"memory.free", [](auto& gpu, auto text) { gpu.memory.free = mebibytes(text); }},
      {"utilization.gpu", [](auto& gpu, auto text) { gpu.utilisation.gpu = times(text, 0.01); }},
      {"utilization.memory", [](auto& gpu, auto text) { gpu.utilisation.memory = times(text, 0.01); }},
      {"power.draw", [](auto& gpu, auto text) { gpu.power = number(text); }},
      {"power.limit", [](auto& gpu, auto text) { gpu.power_limit = number(text); }},
      {"temperature.gpu", [](auto& gpu, auto text) { gpu.temperatures.gpu = number(text); }},
      {"clocks.gr", [](auto& gpu, auto text) { gpu.clocks.graphics = times(text, 1e6); }},
      {"clocks.sm", [](auto& gpu, auto text) { gpu.clocks.sm = times(text, 1e6); }},
      {"clocks.mem", [](auto& gpu, auto text) { gpu.clocks.memory = times(text, 1e6); }},
  };
  return fields;
}

const std::vector<std::pair<std::string, Setter>>& newer_fields() {
  static const std::vector<std::pair<std::string, Setter>> fields{
      {"memory.reserved", [](auto& gpu, auto text) { gpu.memory.reserved = mebibytes(text); }},
      {"temperature.memory", [](auto& gpu, auto text) { gpu.temperatures.memory = number(text); }},
      {"clocks.max.gr", [](auto& gpu, auto text) { gpu.clocks.graphics_max = times(text, 1e6); }},
      {"clocks.max.mem", [](auto& gpu, auto text) { gpu.clocks.memory_max = times(text, 1e6); }},
      {"clocks_throttle_reasons.active", set_throttling},
      {"ecc.errors.corrected.volatile.total", [](auto& gpu, auto text) { gpu.errors.ecc_corrected = count(text); }},
      {"ecc.errors.uncorrected.volatile.total", [](auto& gpu, auto text) { gpu.errors.ecc_uncorrected = count(text); }},
      {"pcie.link.gen.current",
       [](auto& gpu, auto text) {
         if (const auto n = leading_number(text)) gpu.pcie.generation = static_cast<int>(*n);
       }},
      {"pcie.link.width.current",
       [](auto& gpu, auto text) {
         if (const auto n = leading_number(text)) gpu.pcie.width = static_cast<int>(*n);
       }},
      {"mig.mode.current", [](auto& gpu, auto text) { gpu.mig = text == "Enabled"; }},
  };
  return fields;
}

const Setter* setter_of(std::string_view field) {
  for (const auto* table : {&basic_fields(), &newer_fields()})
    for (const auto& [name, setter] : *table)
      if (name == field) return &setter;
  return nullptr;
}

std::vector<std::string> names_of(bool only_basic) {
  std::vector<std::string> names;
  for (const auto& field : basic_fields()) names.push_back(field.first);
  if (!only_basic)
    for (const auto& field : newer_fields()) names.push_back(field.first);
  return names;
}

Result<std::string> run_smi(const std::string& query) {
  const std::string program = variable(own_variables::kNvidiaSmi).value_or("nvidia-smi");
  return child_output({.name = "nvidia-smi", .command = {program, query, "--format=csv,noheader,nounits"}},
                      {.within = kLongest});
}

}  // namespace

std::vector<GpuSnapshot> parse_smi(std::string_view text, const std::vector<std::string>& fields,
                                   std::optional<std::string>& driver) {
  std::vector<GpuSnapshot> gpus;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto values = split_row(line, ',');
    if (values.size() != fields.size()) continue;  // a warning between the lines
    GpuSnapshot gpu;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (values[i].find("GPU is lost") != std::string::npos) gpu.state = GpuState::lost;
      if (is_absent(values[i])) continue;
      if (fields[i] == "driver_version") driver = values[i];
      if (const Setter* set = setter_of(fields[i])) (*set)(gpu, values[i]);
    }
    if (gpu.state == GpuState::lost) gpu.reason = "nvidia-smi reports: GPU is lost";
    if (gpu.uuid.empty()) gpu.uuid = gpu.pci_bus_id.value_or("");
    if (!gpu.uuid.empty()) gpus.push_back(std::move(gpu));
  }
  return gpus;
}

void add_smi_processes(std::string_view text, std::vector<GpuSnapshot>& gpus) {
  for (auto& gpu : gpus) gpu.processes.emplace();
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto values = split_row(line, ',');
    const auto pid = values.size() == 3 ? leading_number(values[1]) : std::nullopt;
    for (auto& gpu : gpus)
      if (pid && gpu.uuid == values[0])
        gpu.processes->push_back({.pid = static_cast<int>(*pid), .memory = mebibytes(values[2])});
  }
}

Result<GpuRound> SmiSource::query(GpuSink& sink, Clock::Instant now) {
  auto fields = names_of(is_old_);
  auto text = run_smi("--query-gpu=" + joined(fields, ","));
  if (!text && text.error().fault == Fault::device &&
      text.error().what.find("not a valid field") != std::string::npos) {
    is_old_ = true;  // one unknown field spoils the whole answer
    fields = names_of(is_old_);
    text = run_smi("--query-gpu=" + joined(fields, ","));
  }
  if (!text) return tl::unexpected(text.error());
  GpuRound round{.source = "nvidia-smi"};
  auto gpus = parse_smi(*text, fields, round.driver);
  if (const auto processes = run_smi("--query-compute-apps=gpu_uuid,pid,used_memory"))
    add_smi_processes(*processes, gpus);
  for (auto& gpu : gpus) {
    round.uuids.push_back(gpu.uuid);
    if (gpu.state == GpuState::ok) gpu.when = now;
    sink.answered(std::move(gpu));
  }
  return round;
}

Result<GpuRound> SmiSource::read(GpuSink& sink, Clock::Instant now) {
  if (answer_ && queried_at_ && now - *queried_at_ < (*answer_ ? kQueryEvery : kRetryEvery)) return *answer_;
  queried_at_ = now;
  answer_ = query(sink, now);
  return *answer_;
}

}  // namespace tutti
