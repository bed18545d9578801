#include "cloud/answer_text.h"

#include <array>
#include <utility>

namespace tutti {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
    {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};

std::string without_entities(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    std::size_t taken = 1;
    char c = text.front();
    for (const auto& [name, character] : kEntities)
      if (c == '&' && taken == 1 && text.starts_with(name)) {
        taken = name.size();
        plain += character;
      }
    if (taken == 1) plain += c;
    text.remove_prefix(taken);
  }
  return plain;
}

}  // namespace

std::vector<std::string_view> xml_elements(std::string_view xml, std::string_view element) {
  const std::string open = "<" + std::string(element), close = "</" + std::string(element) + ">";
  std::vector<std::string_view> found;
  for (std::size_t at = xml.find(open); at != xml.npos; at = xml.find(open, at + 1)) {
    const std::size_t end_of_name = at + open.size();
    const bool whole_name = end_of_name < xml.size() && (xml[end_of_name] == '>' || xml[end_of_name] == ' ');
    const auto begin = whole_name ? xml.find('>', end_of_name) : xml.npos;
    const auto end = begin == xml.npos ? xml.npos : xml.find(close, begin);
    if (end != xml.npos) found.push_back(xml.substr(begin + 1, end - begin - 1));
  }
  return found;
}

std::string xml_text(std::string_view xml, std::string_view element) {
  const auto elements = xml_elements(xml, element);
  return elements.empty() ? "" : without_entities(elements.front());
}

std::string json_text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace tutti
