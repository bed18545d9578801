#include "transcribe/worker_start.h"

#include <algorithm>

#include "base/clock.h"
#include "base/field_names.h"
#include "base/program_paths.h"
#include "base/try.h"
#include "device/device_spec.h"
#include "hub/model_shape.h"
#include "link/connection.h"
#include "link/emulated_worker.h"
#include "link/engine_command.h"
#include "text/tokenizer.h"
#include "transcript/prompt_frame.h"

namespace tutti {
namespace {

/// Common words, so that an emulated GPU's text reads like text and compresses like it.
constexpr std::string_view kWords[] = {
    "the",     "a",      "of",     "and",    "to",      "in",    "that",   "it",      "was",     "for",    "with",
    "on",      "as",     "he",     "she",    "they",    "we",    "you",    "his",     "her",     "their",  "our",
    "time",    "people", "year",   "way",    "day",     "man",   "thing",  "woman",   "life",    "child",  "world",
    "school",  "state",  "family", "hand",   "part",    "place", "case",   "week",    "company", "system", "question",
    "work",    "night",  "point",  "home",   "water",   "room",  "mother", "area",    "money",   "story",  "fact",
    "month",   "lot",    "right",  "study",  "book",    "eye",   "job",    "word",    "issue",   "side",   "kind",
    "head",    "house",  "friend", "father", "power",   "hour",  "game",   "line",    "end",     "member", "law",
    "car",     "city",   "name",   "team",   "minute",  "idea",  "body",   "back",    "parent",  "face",   "others",
    "level",   "office", "door",   "health", "person",  "art",   "war",    "history", "party",   "result", "change",
    "morning", "reason", "moment", "air",    "teacher", "force", "river",  "field",   "light",   "garden", "music"};

/// A library that computes may hold Python's interpreter for a while, and with it the thread that answers pings.
constexpr HeartbeatLimits kOtherHeartbeat{.silence = Seconds(5)};

Result<EngineCommand> command_of(const ResolvedDevice& device, const RunOptions& options,
                                 const std::optional<EmulatedSpeech>& speech) {
  if (options.engine) return options.engine->command;
  if (device.kind != ResolvedDevice::Kind::emulated) {
    std::vector<std::string> words{"worker", "--fd", std::to_string(kWorkerSocket)};
    if (field_names() == FieldNames::fields) words.insert(words.end(), {"--names", "fields"});
    return engine_command(EngineSettings::of_this_process(), std::move(words));
  }
  if (!speech) return fail(Fault::internal, device.name + ": the emulated model is not configured");
  EmulatedPart part{.card = device.card, .speech = *speech, .build_id = options.build_id};
  if (part.card.born == 0) part.card.born = Clock::real().now().time_since_epoch().count();
  EngineCommand command{.words = {emulator_program().string(), std::string(kEmulatedWorkerCommand)}};
  for (auto& word : words_of(part)) command.words.push_back(std::move(word));
  return command;
}

}  // namespace

Result<EmulatedSpeech> emulated_speech(const std::filesystem::path& model) {
  EmulatedSpeech speech;
  if (!model.empty()) {
    const auto shape = model_shape(model);
    if (!shape || shape->vocabulary <= 0)
      return fail(
          Fault::unsupported, model.string() + ": its shape cannot be known without loading it",
          "Emulated cards need a Hugging Face folder or an OpenAI model's name, or no " + field("model") + " at all");
    speech.n_mels = static_cast<std::int32_t>(shape->n_mels);
    speech.n_audio_ctx = static_cast<std::int32_t>(shape->audio_positions);
    speech.n_text_ctx = static_cast<std::int32_t>(shape->text_positions);
    speech.n_vocab = static_cast<std::int32_t>(shape->vocabulary);
  }
  const auto tokenizer =
      TRY(model.empty() ? Tokenizer::built_in(speech.n_vocab) : Tokenizer::load(model, speech.n_vocab));
  const SpecialTokens& special = tokenizer.special();
  speech.timestamp_begin = special.timestamp_begin;
  if (special.multilingual) speech.languages = special.languages;
  for (const auto word : kWords) speech.words.push_back(tokenizer.encode(" " + std::string(word)));
  speech.stop = tokenizer.encode(".");
  return speech;
}

std::int32_t text_positions_of(const RunOptions& options, const ModelShape& shape) {
  const auto all = static_cast<std::int32_t>(shape.text_positions);
  return options.batched ? positions_without_history(options.long_form, all) : all;
}

Result<WorkerOptions> worker_options(const ResolvedDevice& device, const RunOptions& options,
                                     const std::optional<EmulatedSpeech>& speech) {
  auto command = TRY(command_of(device, options, speech));
  const bool gpu = device.kind == ResolvedDevice::Kind::cuda;
  const bool is_other = options.engine.has_value();
  const auto shape = options.batched && !is_other ? model_shape(options.model) : std::nullopt;
  const std::string usual = is_other ? "default" : gpu ? "float16" : "float32";
  return WorkerOptions{.name = "worker " + device.name,
                       .command = std::move(command),
                       .device_uuid = device.uuid,
                       .core = device.core,
                       .build_id = is_other ? options.engine->name : options.build_id,
                       .is_other = is_other,
                       .model = {.model_path = options.model.string(),
                                 .device = gpu ? "cuda:0" : "cpu",  // a worker sees one GPU only
                                 .compute_type = options.compute_type == "default" ? usual : options.compute_type,
                                 .threads = device.core ? 1 : options.threads,
                                 .batch_size = options.batch_size,
                                 .beams = std::max(1, options.decoding.beams()),
                                 .text_positions = shape ? text_positions_of(options, *shape) : 0,
                                 .deterministic = options.deterministic},
                       .heartbeat = is_other ? kOtherHeartbeat : HeartbeatLimits{}};
}

}  // namespace tutti
