#include <cstdio>

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/named_model.h"
#include "doctor/report.h"

namespace tutti {
namespace {

int exit_code_of(Finding::Level worst) {
  switch (worst) {
    case Finding::Level::good:
    case Finding::Level::note: return kDone;
    case Finding::Level::broken: return kSomeFailed;
    case Finding::Level::fatal: break;
  }
  return kNothingRan;
}

const char* last_words(Finding::Level worst) {
  if (worst <= Finding::Level::note) return "Nothing is missing.";
  return worst == Finding::Level::broken ? "See the arrows for what to do."
                                         : "Nothing can run like this; see the arrows for what to do.";
}

int print_report(const DoctorReport& report, bool json) {
  const auto& [findings, snapshot, topology] = report;
  if (json) {
    std::fputs(doctor_json(findings, *snapshot, topology.value_or(Topology{})).c_str(), stdout);
  } else {
    std::fputs(findings.text().c_str(), stdout);
    if (topology && topology->gpus.size() > 1) std::printf("\n%s\n", topology_table(*topology).c_str());
    std::puts(last_words(findings.worst()));
  }
  return exit_code_of(findings.worst());
}

}  // namespace

int run_doctor(const std::vector<std::string>& arguments) {
  bool json = false, prometheus = false;
  std::filesystem::path state = state_folder();
  OptionTable table("doctor",
                    "Report what this machine has, what is missing or unwell, and what to do about each: programs and "
                    "libraries, processor, limits, NVIDIA driver, GPUs and the links between them, disks, the store of "
                    "batches, models. "
                    "Exit code 0: nothing is missing, 3: something is broken, 4: nothing can run.");
  table.add_switch("json", json, "the report as one JSON object, with the GPUs and their topology");
  table.add_switch("prometheus", prometheus,
                   "only the metrics of the machine and of running batches, in Prometheus' text format (for "
                   "node_exporter's textfile collector)");
  table.add("state", state, "DIR", "the folder of the store of 'tutti batch'");
  table.examples({"tutti doctor", "tutti doctor --json"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (json && prometheus)
    return complain({Fault::usage, "--json and --prometheus are two forms of one report", "Give one of them"}, kUsage);
  const auto named = store_named(state, "");
  if (!named) return complain(named.error(), kUsage);
  state = named->folder;
  if (prometheus) {
    std::fputs(machine_metrics(state).c_str(), stdout);
    return kDone;
  }

  const DoctorReport report = examine_machine(state);
  return print_report(report, json);
}

}  // namespace tutti
