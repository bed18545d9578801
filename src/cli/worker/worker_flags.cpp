#include "cli/worker/worker_flags.h"

#include <algorithm>

#include "base/log.h"
#include "cli/flags.h"
#include "cli/named_model.h"
#include "cli/on_idle.h"
#include "device/machine_devices.h"

namespace tutti {
namespace {

void add_queue(OptionTable& table, WorkerCommand& c) {
  table.group("Queue and results");
  table.add("queue-url", c.queue_url, "URL", "the queue; without it that of QUEUE_URL").letter = 'q';
  table.add(
      "s3-bucket", c.s3_bucket, "BUCKET",
      "where it writes what it is doing: progress/, workers/ and queue-stats.json. Recordings and transcripts are "
      "where each message names them");
  add_cloud(table, c.cloud);
  table.add(
      "visibility", c.visibility, "SECONDS",
      "others do not see a message in work for so long, and it is renewed three times in that; after a kill it is "
      "received again so soon");
  table.add("prefetch", c.prefetch, "N",
            "messages held that are not begun, of which the most urgent and then the longest begins next");
  table.add("temp-dir", c.temp_dir, "DIR",
            "where recordings are fetched and decoded to, without names; default: TMPDIR, else /tmp");
}

void add_shared_store(OptionTable& table, WorkerCommand& c) {
  table.group("A shared store instead of a queue");
  add_store(table, c.store);
  add_lease(table, c.lease);
  Option& names = table.add(
      "output-format", c.output_format, "FORMAT",
      "txt, vtt, srt, tsv, json, or all of them; this and what concerns model and transcript must be as the batch has "
      "it. With --store, there is no default model, and times of words are off");
  names.letter = 'f';
  names.choices = {"txt", "vtt", "srt", "tsv", "json", "all"};
}

void add_end(OptionTable& table, WorkerCommand& c) {
  table.group("End");
  table.add("idle-timeout", c.idle_timeout, "MINUTES",
            "ends after so long without a job, counted from the end of the latest one, when the queue is found empty "
            "twice; 0: as soon as it is empty");
  add_on_idle(table, c.on_idle);
  table.add("drain-seconds", c.drain_seconds, "SECONDS",
            "after SIGTERM or Ctrl+C what is in work has so long to end; the rest is released to others. A second "
            "signal ends at once");
  table.add("log-dir", c.log_dir, "DIR",
            "log to transcription-worker.log there, too, and to gpu-test.log once a GPU has passed its test");
}

void add_machine(OptionTable& table, WorkerCommand& c) {
  table.group("Devices");
  table.add_list("devices", c.devices, "LIST", "as --devices of 'tutti batch'; default: every GPU");
  table.add_switch("cpu-only", c.cpu_only, "work on the CPU");
  table.add("engine", c.engine, "CMD", "as --engine of 'tutti batch': another engine, which finds its models by itself")
      .has_variable = false;  // TUTTI_ENGINE is the path of ours
  table.add_switch("cpu-fallback", c.cpu_fallback,
                   "where no GPU is in sight, or none computes a first window, work on the CPU and log so; without it "
                   "that is an error");
  table.add("threads", c.threads, "N", "jobs in flight at most; 0: as many as keep the devices busy").letter = 't';
  add_tuning(table, c.speech.tuning, "those that make windows, and those that wait for devices without -t");
  add_prices(table, c.prices, "for history and 'tutti top'");
  table.add("state", c.state, "DIR",
            "folder of this machine's history and speeds, on a local disk; default: $XDG_STATE_HOME/tutti, else "
            "~/.local/state/tutti");
  table.add_switch("sequential", c.sequential,
                   "openai-whisper's loop over each recording, which then stays on one device, instead of --batched");
}

}  // namespace

void add_worker(OptionTable& table, WorkerCommand& c) {
  c.speech.vad.batched = true;
  c.speech.word_timestamps = true;
  c.speech.model = "large-v3";
  add_queue(table, c);
  add_shared_store(table, c);
  add_end(table, c);
  add_machine(table, c);
  add_speech(table, c.speech);
}

Result<void> check_worker(OptionTable& table, const WorkerCommand& c) {
  const FlagRange ranges[] = {{"--idle-timeout", c.idle_timeout, 0, 1e6},
                              {"--visibility", static_cast<double>(c.visibility), 3, 43'200},
                              {"--prefetch", static_cast<double>(c.prefetch), 1, 1000},
                              {"--drain-seconds", c.drain_seconds, 0, 86'400},
                              {"--threads", static_cast<double>(c.threads), 0, 1e6}};
  if (auto within = expect_ranges(ranges); !within) return within;
  if (c.cpu_only && !c.devices.empty())
    return fail(Fault::usage, "--cpu-only and --devices: expected one of them, found both", "Leave one out");
  if (!c.store.empty() && (!c.queue_url.empty() || !c.s3_bucket.empty()))
    return fail(Fault::usage, "--store and a queue: expected one of them, found both",
                "Leave out --store, or --queue-url and --s3-bucket");
  if (!c.store.empty())
    return expect_not_typed(table, {"visibility", "prefetch", "region", "profile", "endpoint-url"},
                            " belongs to a queue, and has no effect on a store");
  if (auto acts = expect_not_typed(table,
                                   {"lease", "output-format", "max-line-width", "max-line-count", "max-words-per-line",
                                    "highlight-words", "paragraphs"},
                                   " belongs to a store, and has no effect on a queue, whose results are JSON");
      !acts)
    return acts;
  if (c.s3_bucket.empty())
    return fail(Fault::usage, "expected --s3-bucket BUCKET, where the worker writes what it is doing");
  if (const auto path = parse_s3_path("s3://" + c.s3_bucket + "/x"); !path || path->bucket != c.s3_bucket)
    return fail(Fault::usage, "--s3-bucket: expected a bucket's name, found '" + c.s3_bucket + "'");
  return {};
}

Result<std::vector<ChosenDevice>> devices_of_worker(const WorkerCommand& c) {
  const std::string list = c.cpu_only ? "cpu" : c.devices.empty() ? "auto" : c.devices;
  const auto listed = parse_device_list(list);
  if (!listed) return fail_in("--devices", listed.error());
  auto devices = choose_devices(*listed, find_devices());
  if (!devices || c.cpu_only || !c.devices.empty()) return devices;
  const bool has_gpu =
      std::ranges::any_of(*devices, [](const auto& d) { return d.device.kind != ResolvedDevice::Kind::cpu; });
  if (has_gpu) return devices;
  if (!c.cpu_fallback)
    return fail(Fault::missing, "no GPU is in sight, and the worker was not started for the CPU",
                "'tutti doctor' names the cause; --cpu-only or --cpu-fallback works on the CPU");
  log(Level::warning, "no GPU is in sight: the worker runs on the CPU (--cpu-fallback), many times slower");
  return devices;
}

}  // namespace tutti
