#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/environment.h"
#include "base/files.h"
#include "base/strings.h"
#include "hub/hub_client.h"
#include "hub/names.h"

namespace tutti {
namespace {

/// Hugging Face's own notion of a variable that is switched on.
bool is_on(std::string value) {
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

std::filesystem::path token_file() {
  if (const auto named = variable("HF_TOKEN_PATH")) return *named;
  if (const auto home = variable("HF_HOME")) return std::filesystem::path(*home) / "token";
  return xdg_home("XDG_CACHE_HOME", ".cache") / "huggingface" / "token";
}

Error not_there(const std::string& thing) {
  auto names = nearest_names(thing);
  std::erase(names, thing);
  const std::string near = joined(names, ", ");
  return {Fault::missing, thing + ": the hub has nothing of this name, or does not show it without a token",
          (near.empty() ? "" : "Names close to it: " + near + ". ") + "For a private model set HF_TOKEN"};
}

}  // namespace

HubAccess HubAccess::from_environment() {
  HubAccess access;
  if (const std::string named(trimmed(variable("HF_ENDPOINT").value_or(""))); !named.empty()) access.endpoint = named;
  access.token = trimmed(variable("HF_TOKEN").value_or(""));
  if (access.token.empty()) access.token = trimmed(read_file(token_file()).value_or(""));
  access.offline = is_on(variable("HF_HUB_OFFLINE").value_or(""));
  return access;
}

Error explain(const HttpReply& reply, const std::string& thing, const HubAccess& access) {
  const std::string again = "Run the same command again: it goes on from there";
  if (!reply.failure.empty() || reply.status == 0)
    return {Fault::missing, thing + ": " + access.endpoint + ": " + reply.failure,
            "Check the network, a proxy (https_proxy) and HF_ENDPOINT. " + again};
  const std::string code(reply.header("x-error-code"));
  if (reply.status == 404 || code == "RepoNotFound") return not_there(thing);
  if (reply.status == 401 || reply.status == 403) {
    const std::string shown = access.token.empty() ? "no token was sent" : "the token that was sent does not open it";
    const std::string gate = code == "GatedRepo"
                                 ? "Accept its conditions on its page at " + access.endpoint + ", then set"
                                 : std::string("Set");
    return {Fault::refused, thing + ": the hub refuses access (HTTP " + std::to_string(reply.status) + "); " + shown,
            gate + " HF_TOKEN to a token that may read it"};
  }
  const std::string status = thing + ": the hub answers HTTP " + std::to_string(reply.status);
  if (reply.status == 429) return {Fault::exhausted, status + " (too many requests)", "Wait a while. " + again};
  return {Fault::missing, status, reply.status >= 500 ? again : "Check HF_ENDPOINT"};
}

}  // namespace tutti
