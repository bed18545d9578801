#pragma once

#include <boost/beast.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "serve/http/http.h"

namespace tutti {

// Between Beast's messages and those that handlers know. Pure, but for the date; any thread.

/// A request as Beast parses it: its body comes in blocks.
using BeastRequest = boost::beast::http::request<boost::beast::http::buffer_body>;
using BeastResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// "req_7"
std::string request_id(std::uint64_t number);

/// The head of a request of the client at `address`. Its id is what the client gives as x-request-id, if that is plain,
/// or that of `number`.
HttpHead head_of(const BeastRequest& request, std::string address, std::uint64_t number);

/// What no server may take, as a status and why: another one, in front of this, may take it for another request. None:
/// nothing is wrong.
std::optional<std::pair<int, const char*>> wrong_head(const BeastRequest& request);

/// An answer with the headers that every answer has, and those that the handler adds. Its length is the caller's to
/// set.
BeastResponse response_of(HttpAnswer answer, const HttpHead& head, unsigned version, bool keep, HttpHandler& handler);

/// What came is no HTTP, where another error means that nothing more comes.
bool is_malformed(const boost::system::error_code& failed);

}  // namespace tutti
