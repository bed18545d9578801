// docs/engines.md, after which others write engines, against the messages as they are.

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <type_traits>

#include "base/files.h"
#include "link/message_fields.h"

using namespace tutti;

namespace {

template <class Value>
std::string type_name() {
  if constexpr (std::is_same_v<Value, std::string>) return "text";
  if constexpr (std::is_same_v<Value, bool>) return "bool";
  if constexpr (std::is_same_v<Value, double>) return "f64";
  const std::string bits = std::to_string(8 * sizeof(Value));
  return (std::is_signed_v<Value> ? "i" : "u") + bits;
}

template <class Message, class Value>
std::string described(const Field<Message, Value>& field) {
  return std::string(field.name) + " " + type_name<Value>();
}

/// "| 6 | Ping | sequence u64 |" of every message, by its name.
template <class Variant, std::size_t kind = 0>
void add_rows(std::map<std::string, std::string>& rows) {
  if constexpr (kind < std::variant_size_v<Variant>) {
    using Shape = Layout<std::variant_alternative_t<kind, Variant>>;
    std::string fields;
    std::apply([&](const auto&... field) { ((fields += (fields.empty() ? "" : ", ") + described(field)), ...); },
               Shape::kFields);
    const std::string name(Shape::kName);
    rows[name] = "| " + std::to_string(kind) + " | " + name + " | " + fields + " |";
    add_rows<Variant, kind + 1>(rows);
  }
}

}  // namespace

TEST(EnginesPage, HasVersionKindAndFieldsOfItsMessages) {
  std::map<std::string, std::string> rows;
  add_rows<ToWorker>(rows);
  add_rows<ToControl>(rows);
  const std::string page = read_file(TUTTI_SOURCE_DIR "/docs/engines.md").value();
  EXPECT_NE(page.find("This is version " + std::to_string(kProtocolVersion) + "."), std::string::npos);
  std::istringstream lines(page);
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.size() < 3 || line[2] < '0' || line[2] > '9') continue;
    const auto name = line.find("| ", 2) + 2;
    EXPECT_EQ(line, rows[line.substr(name, line.find(' ', name) - name)]);
    ++found;
  }
  EXPECT_EQ(found, 12) << "messages that an engine of others needs";
}
