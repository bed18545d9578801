#include "feed/recipe/recipe_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/strings/joined.h"
#include "base/strings/nearest.h"
#include "base/toml.h"
#include "feed/recipe/whisper_fields.h"

namespace tutti {
namespace {

tl::unexpected<Error> not_a(const char* kind) {
  return fail(Fault::usage, std::string("expected ") + kind);
}

Result<void> take(const toml::node& node, bool& into) {
  if (!node.is_boolean()) return not_a("true or false");
  into = node.value_or(false);
  return {};
}

template <class Integer>
requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>) Result<void> take(const toml::node& node,
                                                                                          Integer& into) {
  const auto value = node.is_integer() ? node.value<std::int64_t>() : std::nullopt;
  const bool fits =
      value && *value >= 0 && (sizeof(Integer) == 8 || *value <= std::numeric_limits<std::int32_t>::max());
  if (!fits) return not_a("a whole number, not negative");
  into = static_cast<Integer>(*value);
  return {};
}

Result<void> take(const toml::node& node, double& into) {
  if (!node.is_number()) return not_a("a number");
  into = node.value_or(0.0);
  return {};
}

template <class Text>
requires std::is_assignable_v<Text&, std::string> Result<void> take(const toml::node& node, Text& into) {
  if (!node.is_string()) return not_a("a text in quotes");
  into = node.value_or(std::string());
  return {};
}

class Names {
 public:
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, T&, const char*, const char*) {
    names.emplace_back(name);
  }
  std::vector<std::string> names{};
};

/// Reads one key into its field.
class Taking {
 public:
  Taking(std::string_view key, const toml::node& node) : key_(key), node_(node) {}
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, T& field, const char*, const char*) {
    if (key_ == name) taken = take(node_, field);
  }
  Result<void> taken{};

 private:
  std::string_view key_;
  const toml::node& node_;
};

/// The fewest digits that give the same number again.
std::string shortest(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  const std::string digits(text, end);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

/// As a recipe says it.
template <class T>
std::string value_text(const T& field) {
  std::ostringstream text;
  if constexpr (std::is_same_v<T, std::filesystem::path>)
    text << toml::value<std::string>(field.string());
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    text << field;
  else if constexpr (std::is_same_v<T, double>)
    text << shortest(field);
  else
    text << toml::value<T>(field);
  return text.str();
}

class Showing {
 public:
  void group(const char* heading) { text_ << (text_.tellp() > 0 ? "\n" : "") << "# " << heading << "\n"; }
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    text_ << name << " = " << value_text(field) << "\n";
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_{};
};

class Values {
 public:
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    values.emplace_back(name, value_text(field));
  }
  std::vector<std::pair<std::string_view, std::string>> values{};
};

Result<void> take_key(const std::string& key, const toml::node& node, WhisperRecipe& recipe) {
  Names known;
  visit_fields(recipe, known);
  if (std::ranges::find(known.names, key) == known.names.end()) {
    const auto meant = nearest_name(key, known.names);
    return fail(Fault::usage, "no such key",
                meant.empty() ? "See 'tutti train whisper --help' for all keys" : "Did you mean '" + meant + "'?");
  }
  Taking taking(key, node);
  visit_fields(recipe, taking);
  return taking.taken;
}

Result<void> one_of(const char* name, const std::string& value, std::initializer_list<const char*> choices) {
  if (std::ranges::find(choices, value) != choices.end()) return {};
  return fail(Fault::usage,
              std::string(name) + ": expected one of " + joined(choices, ", ") + "; found '" + value + "'");
}

Result<void> between(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  std::ostringstream text;
  text << name << ": expected " << least << " to " << most << ", found " << value;
  return fail(Fault::usage, text.str());
}

/// Of what is multiplied by itself step after step, where 1 would never forget the first.
Result<void> below_one(const char* name, double value) {
  if (value >= 0 && value < 1) return {};
  return fail(Fault::usage, std::string(name) + ": expected 0 to less than 1, found " + shortest(value));
}

/// Finds the first negative whole number: a flag may be one, none of the fields can.
class Negatives {
 public:
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    if constexpr (std::is_same_v<T, std::int32_t>)
      if (field < 0 && none)
        none = fail(Fault::usage,
                    std::string(name) + ": expected a whole number, not negative; found " + std::to_string(field));
  }
  Result<void> none{};
};

Result<void> check_negatives(WhisperRecipe recipe) {
  Negatives negatives;
  visit_fields(recipe, negatives);
  return negatives.none;
}

std::vector<Result<void>> name_checks(const WhisperRecipe& r) {
  return {
      one_of("normaliser", r.normaliser, {"none", "basic", "english"}),
      one_of("task", r.task, {"transcribe", "translate"}),
      one_of("export-type", r.export_type, {"float32", "float16", "bfloat16"}),
      one_of("schedule", r.schedule, {"constant", "linear", "cosine"}),
      one_of("padding", r.padding, {"window", "bucket"}),
      one_of("chunk-strategy", r.chunk_strategy, {"sequential", "sliding", "random"}),
      one_of("data-set", r.data_set, {"stream", "mapped", "memory", "device"}),
      one_of("precision", r.precision, {"float32", "tf32", "bfloat16", "float16"}),
  };
}

std::vector<Result<void>> range_checks(const WhisperRecipe& r) {
  const double many = 1e9;
  return {
      between("bad-share", r.bad_share, 0, 1),
      between("speed-share", r.speed_share, 0, 1),
      between("gain-share", r.gain_share, 0, 1),
      between("noise-share", r.noise_share, 0, 1),
      between("room-share", r.room_share, 0, 1),
      between("window-share", r.window_share, 0, 1),
      between("look-ahead", r.look_ahead, 1, many),
      between("batch-size", r.batch_size, 1, 65536),
      between("batch-seconds", r.batch_seconds, 0, many),
      between("cache-gigabytes", r.cache_gigabytes, 0.01, many),
      between("noise-most-db", r.noise_most_db, r.noise_least_db, 200),
      between("accumulation", r.accumulation, 1, many),
      between("max-minutes", r.max_minutes, 0, many),
      between("ring-depth", r.ring_depth, 1, 1000),
      between("ring-megabytes", r.ring_megabytes, 0, many),
      between("timestamps", r.timestamps, 0, 1),
      between("cycles", r.cycles, 1, many),
      between("schedule-steps", r.schedule_steps, 0, many),
      between("final-rate", r.final_rate, 0, 1),
      between("learning-rate", r.learning_rate, 0, 10),
      between("weight-decay", r.weight_decay, 0, many),
      between("epsilon", r.epsilon, 0, 1),
      between("clip", r.clip, 0, many),
      below_one("beta1", r.beta1),
      below_one("beta2", r.beta2),
      below_one("ema", r.ema),
      between("dropout", r.dropout, 0, 0.95),
      between("ctc-weight", r.ctc_weight, 0, 100),
      between("frame-weight", r.frame_weight, 0, 100),
      between("attention-weight", r.attention_weight, 0, 100),
      between("compute-threads", r.compute_threads, 0, 1024),
      between("threads", r.threads, 0, 1024),
      between("read-threads", r.read_threads, 1, 1024),
      between("log-steps", r.log_steps, 1, many),
      between("keep", r.keep, 1, many),
      between("epochs + max-steps", r.epochs + r.max_steps, 1, many),
  };
}

Result<void> check_heads(const WhisperRecipe& r) {
  if (r.width % 2 == 0 && r.width % r.heads == 0) return {};
  return fail(Fault::usage,
              "width, heads: expected an even width that the heads divide, found " + std::to_string(r.width) + " and " +
                  std::to_string(r.heads),
              "Whisper's own heads are 64 wide");
}

/// A stored network has its own, whatever they are.
std::vector<Result<void>> new_network_checks(const WhisperRecipe& r) {
  constexpr double kWidest = 65536, kMostLayers = 1024, kLeastText = 16;
  if (!r.model.empty()) return {};
  return {
      between("width", r.width, 2, kWidest),
      between("heads", r.heads, 1, r.width),
      r.heads > 0 ? check_heads(r) : Result<void>(),
      between("encoder-layers", r.encoder_layers, 1, kMostLayers),
      between("decoder-layers", r.decoder_layers, 1, kMostLayers),
      between("text-context", r.text_context, kLeastText, kWidest),
      between("window-seconds", r.window_seconds, 0.1, 30),
      one_of("mels", std::to_string(r.mels), {"80", "128"}),
  };
}

/// What would do nothing beside the others, and so was not meant.
std::vector<Result<void>> sense_checks(const WhisperRecipe& r) {
  const auto unless = [](bool senseless, const std::string& what, const char* hint) {
    return senseless ? Result<void>(fail(Fault::usage, what, hint)) : Result<void>{};
  };
  return {
      unless(r.cycles > 1 && r.schedule != "cosine",
             "cycles: only the cosine begins anew; the schedule is '" + r.schedule + "'",
             "Add schedule cosine, or leave cycles out"),
      unless(r.lora_rank > 0 && r.lora_alpha <= 0,
             "lora-alpha: expected more than 0, found " + shortest(r.lora_alpha) + "; the additions would add nothing",
             "It is usually the rank, or twice that"),
      unless(
          r.gradient_checkpointing && r.freeze_encoder && r.attention_weight > 0,
          "gradient-checkpointing: the encoder is frozen, and attention-weight keeps what the decoder computes; there "
          "is nothing to compute twice",
          "Leave out one of the three"),
      unless(r.freeze_encoder && (r.ctc_weight > 0 || r.frame_weight > 0),
             "ctc-weight, frame-weight: with freeze-encoder there is nothing that they could teach",
             "Leave out freeze-encoder, or both of them"),
  };
}

/// What is packed once is the same in every epoch, and lies in the cache.
Result<void> check_data_set(const WhisperRecipe& r) {
  if (r.data_set == "stream") return {};
  const std::string asked = "data-set " + r.data_set;
  std::string changing;
  const auto name_if = [&](bool is_on, const char* name) {
    if (is_on) changing += (changing.empty() ? "" : ", ") + std::string(name);
  };
  name_if(r.speed_share > 0, "speed-share");
  name_if(r.gain_share > 0, "gain-share");
  name_if(r.noise_share > 0, "noise-share");
  name_if(r.room_share > 0, "room-share");
  name_if(r.use_chunking && r.chunk_strategy == "random", "chunk-strategy random");
  if (!changing.empty())
    return fail(Fault::usage,
                asked + ", " + changing + ": features are packed once, and these change them in every epoch",
                "Leave out " + changing + " (mask-bands and mask-stretches may stay), or take data-set stream");
  if (!r.data_gpu.empty())
    return fail(Fault::usage, asked + ", data-gpu: features that are packed are not computed while training runs",
                "Leave out one of them");
  if (r.cache.empty())
    return fail(Fault::usage, asked + ": the set is packed in the cache, and none is named",
                "Name a folder with --cache");
  return {};
}

}  // namespace

Result<WhisperRecipe> read_recipe(std::string_view toml, const std::string& file_name, WhisperRecipe recipe) {
  const auto table = parse_toml(toml, file_name);
  if (!table) return tl::unexpected<Error>(table.error());
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    if (auto taken = take_key(name, node, recipe); !taken)
      return fail_in(file_name + ":" + std::to_string(node.source().begin.line) + ": '" + name + "'", taken.error());
  }
  return recipe;
}

std::string show_recipe(WhisperRecipe recipe) {
  Showing showing;
  visit_fields(recipe, showing);
  return showing.text();
}

std::string binding_differences(WhisperRecipe now, WhisperRecipe before) {
  // What decides which samples a batch holds (fingerprint_of in feed/check_options.cpp), and the network's shape.
  static constexpr std::string_view kBinding[] = {"data",
                                                  "max-samples",
                                                  "use-chunking",
                                                  "chunk-strategy",
                                                  "cache",
                                                  "speed-share",
                                                  "gain-share",
                                                  "noise-share",
                                                  "noise-least-db",
                                                  "noise-most-db",
                                                  "room-share",
                                                  "mask-bands",
                                                  "mask-stretches",
                                                  "model",
                                                  "width",
                                                  "heads",
                                                  "encoder-layers",
                                                  "decoder-layers",
                                                  "mels",
                                                  "window-seconds",
                                                  "text-context",
                                                  "vocabulary",
                                                  "batch-size",
                                                  "batch-seconds",
                                                  "padding",
                                                  "look-ahead",
                                                  "ctc-weight",
                                                  "frame-weight",
                                                  "freeze-encoder",
                                                  "lora-rank",
                                                  "ema",
                                                  "devices",
                                                  "seed"};
  Values asked, had;
  visit_fields(now, asked);
  visit_fields(before, had);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < asked.values.size(); ++i)
    if (const auto& [name, value] = asked.values[i];
        value != had.values[i].second && std::ranges::find(kBinding, name) != std::end(kBinding))
      all.push_back(std::string(name) + " " + value + " (it was " + had.values[i].second + ")");
  return joined(all, ", ");
}

Result<void> check_recipe(const WhisperRecipe& r) {
  if (auto checked = check_negatives(r); !checked) return checked;
  for (const auto& checks : {name_checks(r), range_checks(r), new_network_checks(r), sense_checks(r)})
    for (const auto& check : checks)
      if (!check) return check;
  if (!r.data_gpu.empty() && !r.cache.empty())
    return fail(Fault::usage, "data-gpu, cache: features that a device computes are not kept", "Leave out one of them");
  if (!r.data_gpu.empty() && !r.devices.empty() && r.data_gpu != "model" && r.data_gpu != "cpu")
    return fail(
        Fault::usage,
        "data-gpu: '" + r.data_gpu + "': each of several processes sees its own device alone; expected model or cpu",
        "Write data-gpu model, or train in one process with --device");
  if (auto checked = check_data_set(r); !checked) return checked;
  if (r.data.empty()) return fail(Fault::usage, "data: nothing to learn is named", "Name a folder with --data");
  return {};
}

}  // namespace tutti
