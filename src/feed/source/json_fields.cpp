#include "feed/source/json_fields.h"

#include "base/strings.h"
#include "text/manifest/field_names.h"

namespace tutti {

using Json = nlohmann::json;

const Json* find_json_field(const Json& object, std::span<const char* const> names) {
  for (const char* name : names)
    if (const auto at = object.find(name); at != object.end()) return &*at;
  for (const char* name : names)
    for (auto at = object.begin(); at != object.end(); ++at)
      if (plain_field_name(at.key()) == name) return &at.value();
  for (const char* name : names)
    for (auto at = object.begin(); at != object.end(); ++at)
      if (squeezed_field_name(at.key()) == squeezed_field_name(name)) return &at.value();
  return nullptr;
}

std::string json_text_of(const Json& object, std::span<const char* const> names) {
  const Json* at = find_json_field(object, names);
  if (!at || at->is_null()) return {};
  return at->is_string() ? at->get<std::string>() : json_line(*at);
}

std::string json_text_of(const Json& object, const char* name) {
  return json_text_of(object, {&name, 1});
}

Result<void> check_json_text(const Json& object) {
  const Json* at = find_json_field(object, kTextNames);
  if (!at || at->is_string() || at->is_number() || at->is_null()) return {};
  return fail(Fault::corrupt, "its text: expected a text, found " + json_line(*at).substr(0, 80));
}

Result<std::optional<double>> json_number_of(const Json& object, std::span<const char* const> names) {
  const Json* at = find_json_field(object, names);
  if (!at || at->is_null()) return std::nullopt;
  if (at->is_number() && at->get<double>() >= 0) return at->get<double>();
  return fail(Fault::corrupt, std::string(names.front()) + ": expected seconds, found " + json_line(*at));
}

std::string json_names_in(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return quoted_names(names);
}

Result<std::vector<TimedText>> json_words_of(const Json& object) {
  std::vector<TimedText> words;
  const auto at = object.find("words");
  if (at == object.end() || at->is_null()) return words;
  const auto wrong = [](const Json& found) {
    return fail(Fault::corrupt,
                R"(words: expected a list of {"word": text, "start": seconds, "end": seconds}, found )" +
                    json_line(found).substr(0, 80));
  };
  if (!at->is_array()) return wrong(*at);
  for (const Json& word : *at) {
    const auto number = [&](const char* name) { return word.is_object() ? word.value(name, Json()) : Json(); };
    const Json start = number("start"), end = number("end"), text = number("word");
    if (!text.is_string() || !start.is_number() || !end.is_number() || end < start) return wrong(word);
    words.push_back({start, end, text});
  }
  return words;
}

std::string filled_json_text(const Json& object, std::span<const char* const> names) {
  for (const char* name : names) {
    const Json* at = find_json_field(object, {&name, 1});
    if (!at || at->is_null() || at->is_structured()) continue;
    if (const std::string text(trimmed(json_text_of(object, name))); !text.empty()) return text;
  }
  return {};
}

}  // namespace tutti
