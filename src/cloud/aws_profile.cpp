#include "cloud/aws_profile.h"

#include <filesystem>
#include <set>

#include "base/environment.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

using Sections = std::map<std::string, std::map<std::string, std::string>>;

/// "[profile work]" is "profile work". A line that begins with a blank belongs to a setting that we do not read.
Sections sections_of(std::string_view text) {
  Sections sections;
  std::string current;
  for (const auto line : split(text, '\n')) {
    const auto content = trimmed(line);
    if (content.empty() || content.front() == '#' || content.front() == ';' || line.front() == ' ' ||
        line.front() == '\t')
      continue;
    if (content.front() == '[') {
      current = trimmed(content.substr(1, content.find(']') - 1));
      sections[current];
    } else if (const auto equals = content.find('='); equals != content.npos && !current.empty()) {
      sections[current][ascii_lower(trimmed(content.substr(0, equals)))] = trimmed(content.substr(equals + 1));
    }
  }
  return sections;
}

std::filesystem::path aws_file(const char* named_by, const char* usual) {
  if (const auto path = variable(named_by)) return *path;
  return home_folder() / ".aws" / usual;
}

/// A file that is not there has no sections.
Result<Sections> read_sections(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (text) return sections_of(*text);
  if (text.error().fault == Fault::missing) return Sections{};
  return tl::unexpected(text.error());
}

std::string requested_profile(const std::string& named) {
  if (!named.empty()) return named;
  for (const char* name : {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"})
    if (const auto value = variable(name)) return *value;
  return {};
}

/// Names of all profiles, for an error.
std::string names_in(const Sections& config, const Sections& credentials) {
  std::set<std::string> names;
  for (const auto& [name, settings] : credentials) names.insert(name);
  for (const auto& [name, settings] : config) {
    if (name == "default") names.insert(name);
    if (name.starts_with("profile ")) names.insert(std::string(trimmed(name.substr(8))));
  }
  return names.empty() ? "there are none" : "there are: " + joined(names, ", ");
}

}  // namespace

std::string AwsProfile::value(const std::string& key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? "" : found->second;
}

Result<AwsProfile> read_aws_profile(const std::string& named) {
  const auto config_file = aws_file("AWS_CONFIG_FILE", "config");
  const auto config = TRY(read_sections(config_file));
  const auto credentials_file = aws_file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const auto credentials = TRY(read_sections(credentials_file));

  AwsProfile profile;
  const std::string requested = requested_profile(named);
  if (!requested.empty()) profile.name = requested;
  const auto take = [&profile](const Sections& from, const std::string& section) {
    const auto found = from.find(section);
    if (found == from.end()) return;
    profile.is_there = true;
    for (const auto& [key, value] : found->second) profile.settings[key] = value;
  };
  if (profile.name == "default") take(config, "default");
  take(config, "profile " + profile.name);
  take(credentials, profile.name);
  if (!profile.is_there && !requested.empty())
    return fail(Fault::missing,
                "profile '" + requested + "': it is neither in " + config_file.string() + " nor in " +
                    credentials_file.string() + "; " + names_in(config, credentials),
                "Name one of them");
  if (const std::string session = profile.value("sso_session"); !session.empty())
    take(config, "sso-session " + session);
  return profile;
}

std::string usual_region(const AwsProfile& profile) {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (const auto value = variable(name)) return *value;
  return profile.value("region");
}

std::string sso_cache_folder() {
  return home_folder() / ".aws" / "sso" / "cache";
}

}  // namespace tutti
