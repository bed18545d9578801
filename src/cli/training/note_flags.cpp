#include <map>
#include <string_view>

#include "base/numbers.h"
#include "cli/training/loader_flags.h"

namespace tutti {
namespace {

enum class Treatment {
  renamed,   // `text` is the flag of ours
  answered,  // it takes a value; `text` is what replaces it
  switched,  // the same of a switch, which takes none
  refused,   // `text` is why
};

struct NoteFlag {
  Treatment treatment;
  const char* text;
};

const std::map<std::string_view, NoteFlag> kFlags{
    {"lr", {Treatment::renamed, "--learning-rate"}},
    {"grad-accum", {Treatment::renamed, "--accumulation"}},
    {"checkpoint-dir", {Treatment::renamed, "--out"}},
    {"prefetch-buffer-size", {Treatment::renamed, "--ring-depth"}},
    {"prefetch-to-gpu",
     {Treatment::switched, "no effect: batches are copied to the device ahead of their step anyway"}},
    {"no-prefetch-to-gpu",
     {Treatment::refused, "batches are copied to the device ahead of their step; --ring-depth 1 is the least"}},
    {"buffer-size", {Treatment::answered, "no effect: an epoch is shuffled as a whole, by index"}},
    {"model-start-delay", {Treatment::answered, "no effect: the first step waits for its batch, and for nothing else"}},
    {"enable-memory-isolation",
     {Treatment::switched,
      "no effect: preparing takes no memory of the model's device; its batches are --ring-depth many"}},
    {"optimization-level", {Treatment::answered, "no effect: there is one way to compute a step; see --precision"}},
    {"enable-static-shapes",
     {Treatment::switched,
      "no effect: lengths are always rounded up, to 16 symbols and 64 frames, and the decoder sees 128 frames"}},
    {"no-enable-static-shapes", {Treatment::refused, "lengths are always rounded up: new shapes would cost more"}},
    {"max-text-length",
     {Treatment::answered, "no effect here: 'tutti prepare tts' leaves out texts that are too long"}},
    {"max-mel-frames", {Treatment::answered, "no effect here: 'tutti prepare tts' leaves out clips that are too long"}},
    {"enable-evaluation",
     {Treatment::switched, "no effect: the set's part for validation is evaluated, see --eval-steps"}},
    {"decoder-strategy", {Treatment::answered, "no effect: the decoder makes all frames at once, by flow matching"}},
    {"reset-training", {Treatment::refused, "to begin again, name a new folder with --out; the old training stays"}},
    {"data-gpu",
     {Treatment::answered,
      "it would only relay: 'tutti prepare tts' has computed the spectrograms, and the processor gathers batches of "
      "them beside the steps"}},
    {"data-gpu-memory",
     {Treatment::refused, "nothing is prepared on a device: 'tutti prepare tts' computes the spectrograms, once"}},
    {"model-gpu-memory", {Treatment::renamed, "--device-memory"}},
};

Result<void> take(const FlagWord& flag, const std::string& shown, LoaderFlags& into) {
  const auto expect_value = [&]() -> Result<void> {
    return flag.value ? Result<void>() : fail(Fault::usage, shown + ": a value is missing");
  };
  if (flag.name == "model-gpu") {
    if (auto given = expect_value(); !given) return given;
    into.words.insert(into.words.end(), {"--device", note_device(*flag.value)});
    return {};
  }
  if (flag.name == "vocoder-type") {
    if (flag.value == "griffin_lim" || flag.value == "griffin-lim") {
      into.answers.push_back(shown + ": no effect: 'tutti say' makes sound by Griffin-Lim, which is not trained");
      return {};
    }
    return fail(Fault::usage,
                shown + ": expected griffin_lim, the only one there is, found '" + flag.value.value_or("") + "'");
  }
  const auto& known = kFlags.at(flag.name);
  if (known.treatment == Treatment::refused) return fail(Fault::usage, shown + ": " + known.text);
  if (known.treatment == Treatment::renamed) {
    if (auto given = expect_value(); !given) return given;
    into.words.insert(into.words.end(), {known.text, *flag.value});
    return {};
  }
  into.answers.push_back(shown + ": " + known.text);
  return {};
}

}  // namespace

std::string note_device(const std::string& value) {
  return number_in<std::int64_t>(value) ? "cuda:" + value : value;
}

std::map<std::string, std::string, std::less<>> note_names() {
  constexpr std::string_view kDashes = "--";
  std::map<std::string, std::string, std::less<>> names{{"model-gpu", "device"}};
  for (const auto& [name, flag] : kFlags)
    if (flag.treatment == Treatment::renamed) names.emplace(name, std::string_view(flag.text).substr(kDashes.size()));
  return names;
}

std::optional<std::string> note_answer(const std::string& name) {
  const auto known = kFlags.find(name);
  if (known == kFlags.end() || known->second.treatment == Treatment::renamed) return {};
  return known->second.text;
}

Result<LoaderFlags> in_voice_names(const std::vector<std::string>& words) {
  LoaderFlags taken;
  for (std::size_t i = 0; i < words.size();) {
    auto flag = flag_at(words, i, "");
    const auto known = kFlags.find(flag.name);
    const bool is_other = flag.name == "model-gpu" || flag.name == "vocoder-type";
    if (known == kFlags.end() && !is_other) {
      taken.words.push_back(words[i++]);
      continue;
    }
    if (known != kFlags.end() && known->second.treatment == Treatment::switched) flag.words = 1;
    if (auto done = take(flag, words[i].substr(0, words[i].find('=')), taken); !done)
      return tl::unexpected<Error>(done.error());
    i += flag.words;
  }
  return taken;
}

}  // namespace tutti
