/// Why a file cannot be read, for errors; and what all readers of texts hold to.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace torus {

/// "is a folder", "cannot be read (No such file or directory)"; none if it can be read. A stream reads a folder as an empty file.
std::optional<std::string> why_unreadable(const std::string& path);

/// What some editors write in front of UTF-8. Readers pass over it.
inline constexpr std::string_view utf8_mark = "\xef\xbb\xbf";
/// A byte 0 in a text is refused: parsers take it for the end, and would not see what stands behind it.
inline constexpr std::string_view holds_zero = "holds a byte of value 0, as no text does";

/// The text of a file of at most `most` bytes, without utf8_mark. refuse(why), with a why as why_unreadable() says it, must throw; it is
/// called for a file that cannot be read, has more bytes, of which no more are read, or holds a byte 0.
std::string text_of_file(const std::string& path, std::size_t most, const std::function<void(const std::string& why)>& refuse);

/// The most bytes of a file whose text is kept in memory.
inline constexpr std::size_t most_text = std::size_t{512} << 20U;

}  // namespace torus
