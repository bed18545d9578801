#include <map>
#include <string_view>

#include "base/numbers.h"
#include "cli/training/loader_flags.h"

namespace tutti {
namespace {

enum class Treatment {
  renamed,         // `text` is the flag of ours
  renamed_switch,  // the same of a switch, which takes no value
  answered,        // it takes a value; `text` is what replaces it
  switched,        // the same of a switch, which takes none
  refused,         // `text` is why
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
      "no effect: each device has its own memory and limit anyway, --data-gpu-memory and --device-memory"}},
    {"optimization-level", {Treatment::answered, "no effect: there is one way to compute a step; see --precision"}},
    {"enable-static-shapes", {Treatment::renamed_switch, "--static-shapes"}},
    {"no-enable-static-shapes",
     {Treatment::switched, "as without it: lengths are only rounded up, to 8 symbols and 32 frames"}},
    {"max-text-length",
     {Treatment::answered, "no effect here: 'tutti prepare tts --max-text-length' leaves out longer texts"}},
    {"max-mel-frames",
     {Treatment::answered, "no effect here: 'tutti prepare tts --max-seconds' leaves out longer clips"}},
    {"enable-evaluation",
     {Treatment::switched, "no effect: the set's part for validation is evaluated, see --eval-steps"}},
    {"decoder-strategy", {Treatment::answered, "no effect: the decoder makes all frames at once, by flow matching"}},
    {"reset-training", {Treatment::refused, "to begin again, name a new folder with --out; the old training stays"}},
    {"model-gpu-memory", {Treatment::renamed, "--device-memory"}},
};

bool is_renamed(const NoteFlag& flag) {
  return flag.treatment == Treatment::renamed || flag.treatment == Treatment::renamed_switch;
}

bool takes_no_value(const NoteFlag& flag) {
  return flag.treatment == Treatment::switched || flag.treatment == Treatment::renamed_switch;
}

/// Our flag for one that names a device, by its number where it is a GPU; null where it names none.
const char* device_flag(std::string_view name) {
  if (name == "model-gpu") return "--device";
  return name == "data-gpu" ? "--data-gpu" : nullptr;
}

Result<void> take(const FlagWord& flag, const std::string& shown, const std::vector<std::string>& words,
                  LoaderFlags& into) {
  const auto expect_value = [&]() -> Result<void> {
    return flag.value ? Result<void>() : fail(Fault::usage, shown + ": a value is missing");
  };
  if (const char* ours = device_flag(flag.name)) {
    if (auto given = expect_value(); !given) return given;
    into.words.insert(into.words.end(), {ours, note_device(*flag.value)});  // beside --device the last holds
    return {};
  }
  if (flag.name == "vocoder-type") {
    if (flag.value == "griffin_lim" || flag.value == "griffin-lim") {
      into.answers.push_back(
          shown +
          ": no effect here: 'tutti say' makes sound by Griffin-Lim where no vocoder was trained ('tutti train "
          "vocoder')");
      return {};
    }
    return fail(Fault::usage, shown + ": expected griffin_lim, found '" + flag.value.value_or("") + "'",
                "'tutti train vocoder' trains one of another form, by itself");
  }
  const auto& known = kFlags.at(flag.name);
  if (known.treatment == Treatment::refused) return fail(Fault::usage, shown + ": " + known.text);
  if (known.treatment == Treatment::renamed) {
    if (auto given = expect_value(); !given) return given;
    if (auto alone = expect_no_other(shown, known.text, *flag.value, words); !alone) return alone;
    into.words.insert(into.words.end(), {known.text, *flag.value});
    return {};
  }
  if (known.treatment == Treatment::renamed_switch) {
    into.words.emplace_back(known.text);
    return {};
  }
  if (known.treatment == Treatment::answered)
    if (auto given = expect_value(); !given) return given;
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
    if (is_renamed(flag)) names.emplace(name, std::string_view(flag.text).substr(kDashes.size()));
  return names;
}

std::vector<std::string> note_flag_names() {
  std::vector<std::string> names{"model-gpu", "vocoder-type"};
  for (const auto& [name, flag] : kFlags) names.emplace_back(name);
  return names;
}

std::optional<std::string> note_answer(const std::string& name) {
  const auto known = kFlags.find(name);
  if (known == kFlags.end() || is_renamed(known->second)) return {};
  return known->second.text;
}

Result<LoaderFlags> in_voice_names(const std::vector<std::string>& words) {
  LoaderFlags taken;
  for (std::size_t i = 0; i < words.size();) {
    auto flag = flag_at(words, i, "");
    const auto known = kFlags.find(flag.name);
    const bool is_other = device_flag(flag.name) || flag.name == "vocoder-type";
    if (known == kFlags.end() && !is_other) {
      taken.words.push_back(words[i++]);
      continue;
    }
    if (known != kFlags.end() && takes_no_value(known->second)) flag.words = 1;
    if (auto done = take(flag, words[i].substr(0, words[i].find('=')), words, taken); !done)
      return tl::unexpected<Error>(done.error());
    i += flag.words;
  }
  return taken;
}

}  // namespace tutti
