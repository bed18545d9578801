#include "base/numbers.h"
#include "base/try.h"
#include "recipe/trainers/loader_flags.h"
#include "recipe/trainers/trainer_settings.h"

namespace tutti {
namespace {

Result<void> take(const FlagWord& flag, const std::string& shown, const std::vector<std::string>& words,
                  LoaderFlags& into) {
  const auto expect_value = [&]() -> Result<void> {
    return flag.value ? Result<void>() : fail(Fault::usage, shown + ": a value is missing");
  };
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
  const auto& known = trainer_settings(TrainerNames::note).at(flag.name);
  const auto ours = "--" + known.text;
  switch (known.treatment) {
    case Treatment::refuse: return fail(Fault::usage, shown + ": " + known.text);
    case Treatment::device:
      TRY(expect_value());
      into.words.insert(into.words.end(), {ours, note_device(*flag.value)});  // beside --device the last holds
      return {};
    case Treatment::rename:
      TRY(expect_value());
      TRY(expect_no_other(shown, ours, *flag.value, words));
      into.words.insert(into.words.end(), {ours, *flag.value});
      return {};
    case Treatment::rename_switch: into.words.push_back(ours); return {};
    case Treatment::answer: TRY(expect_value()); break;
    default: break;
  }
  into.answers.push_back(shown + ": " + known.text);
  return {};
}

}  // namespace

std::string note_device(const std::string& value) {
  return number_in<std::int64_t>(value) ? "cuda:" + value : value;
}

std::map<std::string, std::string, std::less<>> note_names() {
  std::map<std::string, std::string, std::less<>> names;
  for (const auto& [name, setting] : trainer_settings(TrainerNames::note))
    if (setting.is_renamed()) names.emplace(name, setting.text);
  return names;
}

std::vector<std::string> note_flag_names() {
  std::vector<std::string> names{"vocoder-type"};
  for (const auto& [name, setting] : trainer_settings(TrainerNames::note)) names.push_back(name);
  return names;
}

std::optional<std::string> note_answer(const std::string& name) {
  const auto& settings = trainer_settings(TrainerNames::note);
  const auto known = settings.find(name);
  if (known == settings.end() || known->second.is_renamed()) return {};
  return known->second.text;
}

Result<LoaderFlags> in_voice_names(const std::vector<std::string>& words) {
  const auto& settings = trainer_settings(TrainerNames::note);
  LoaderFlags taken;
  for (std::size_t i = 0; i < words.size();) {
    auto flag = flag_at(words, i, "");
    const auto known = settings.find(flag.name);
    if (known == settings.end() && flag.name != "vocoder-type") {
      taken.words.push_back(words[i++]);
      continue;
    }
    const auto treatment = known == settings.end() ? Treatment::answer : known->second.treatment;
    if (treatment == Treatment::switched || treatment == Treatment::rename_switch) flag.words = 1;
    TRY(take(flag, words[i].substr(0, words[i].find('=')), words, taken));
    i += flag.words;
  }
  return taken;
}

}  // namespace tutti
