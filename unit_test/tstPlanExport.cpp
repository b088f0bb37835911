// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Partition.hpp>
#include <Strata_PlanExport.hpp>
#include <Strata_Schedule.hpp>
#include <cctype>
#include <map>
#include <regex>
#include <sstream>

#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;

/// Just enough JSON: numbers are whole, strings have no escapes.
struct Json {
  std::int64_t number = 0;
  bool truth = false;
  std::vector<Json> list;
  std::map<std::string, Json> members;

  const Json& operator[](const std::string& name) const {
    return members.at(name);
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string text) : text_(std::move(text)) {}
  Json read() {
    const Json value = any();
    EXPECT_EQ(peek(), '\0') << "text after the end";
    return value;
  }

 private:
  char peek() {
    while (at_ < text_.size() && std::isspace(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void expect(char c) {
    if (peek() != c)
      throw std::runtime_error("no " + std::string(1, c) + " at " +
                               std::to_string(at_));
    ++at_;
  }
  std::string string() {
    expect('"');
    const auto begin = at_;
    at_ = text_.find('"', begin) + 1;
    return text_.substr(begin, at_ - 1 - begin);
  }
  template <class Item>
  void items(char open, char close, const Item& item) {
    expect(open);
    if (peek() == close) return expect(close);
    for (;;) {
      item();
      if (peek() == close) return expect(close);
      expect(',');
    }
  }
  Json any() {
    Json value;
    if (peek() == '{') {
      items('{', '}', [&] {
        const auto name = string();
        expect(':');
        EXPECT_TRUE(value.members.emplace(name, any()).second) << name;
      });
    } else if (peek() == '[') {
      items('[', ']', [&] { value.list.push_back(any()); });
    } else if (text_.compare(at_, 4, "true") == 0) {
      value.truth = true;
      at_ += 4;
    } else if (text_.compare(at_, 5, "false") == 0) {
      at_ += 5;
    } else {
      std::size_t used = 0;
      value.number = std::stoll(text_.substr(at_, 20), &used);
      at_ += used;
    }
    return value;
  }
  std::string text_;
  std::size_t at_ = 0;
};

Subgraphs split(const Graph& graph, int max_rows) {
  PartitionOptions options;
  options.max_rows = max_rows;
  options.work_limit = 5 * (graph.num_vertices + graph.num_edges());
  return partition(graph, find_level_sets(graph), options).subgraphs;
}

TEST(PlanExport, JsonHasEverySlot) {
  for (auto [name, graph] : TestGraphs::all_graphs())
    for (const bool reversed : {false, true}) {
      SCOPED_TRACE(name);
      graph.reversed = reversed;
      const int n = graph.num_vertices;
      const auto s = split(graph, 30);
      const auto schedule = make_schedule(graph, s);
      std::ostringstream out;
      write_schedule_json(out, graph, s, schedule);
      const auto plan = JsonReader(out.str()).read();

      EXPECT_EQ(plan["rows"].number, n);
      EXPECT_EQ(plan["backward"].truth, reversed);
      EXPECT_EQ(plan["subgraph_count"].number, s.count);
      EXPECT_EQ(plan["subgraph_levels"].number, s.num_levels);
      EXPECT_EQ(plan["internal_edges"].number, s.internal_edges);
      EXPECT_EQ(plan["external_edges"].number, s.external_edges);
      EXPECT_EQ(plan["internal_slots"].number, schedule.internal.num_slots());
      EXPECT_EQ(plan["external_slots"].number, schedule.external.num_slots());

      // Every row and every entry of the triangle once, in the matrix's rows.
      std::set<std::int64_t> rows;
      for (const auto& row : plan["isolated"].list)
        EXPECT_TRUE(rows.insert(row.number).second);
      std::set<std::pair<std::int64_t, std::int64_t>> edges, expected;
      std::int64_t slots = 0;
      ASSERT_EQ(plan["subgraphs"].list.size(), std::size_t(s.count));
      for (int g = 0; g < s.count; ++g) {
        const auto& subgraph = plan["subgraphs"].list[g];
        EXPECT_EQ(subgraph["id"].number, g);
        EXPECT_EQ(subgraph["level"].number, s.level_of[g]);
        std::set<std::int64_t> own;
        for (const auto& row : subgraph["rows"].list) {
          own.insert(row.number);
          EXPECT_TRUE(rows.insert(row.number).second);
        }
        for (const char* kind : {"external", "internal"})
          for (const auto& slot : subgraph[kind].list) {
            ++slots;
            std::set<std::int64_t> targets;
            for (const auto& edge : slot.list) {
              ASSERT_EQ(edge.list.size(), 2u);
              const auto from = edge.list[0].number, to = edge.list[1].number;
              EXPECT_TRUE(edges.emplace(from, to).second);
              EXPECT_TRUE(targets.insert(to).second);
              EXPECT_EQ(own.count(to), 1u);
              EXPECT_EQ(own.count(from), *kind == 'i' ? 1u : 0u);
            }
          }
      }
      EXPECT_EQ(rows.size(), std::size_t(n));
      EXPECT_EQ(slots,
                schedule.internal.num_slots() + schedule.external.num_slots());
      for (int i = 0; i < n; ++i)
        for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
          const int j = graph.entries(k);
          expected.emplace(reversed ? n - 1 - j : j, reversed ? n - 1 - i : i);
        }
      EXPECT_EQ(edges, expected);
    }
}

TEST(PlanExport, DotHasEverySubgraphAndEdge) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    SCOPED_TRACE(name);
    const auto s = split(graph, 30);
    std::ostringstream out;
    write_subgraphs_dot(out, graph, s);
    const auto text = out.str();
    EXPECT_EQ(text.rfind("digraph subgraphs {\n", 0), 0u);
    EXPECT_EQ(text.substr(text.size() - 2), "}\n");
    EXPECT_EQ(std::count(text.begin(), text.end(), '{'),
              std::count(text.begin(), text.end(), '}'));
    EXPECT_EQ(std::count(text.begin(), text.end(), '"') % 2, 0);

    std::map<std::pair<int, int>, int> expected, found;
    for (int i = 0; i < graph.num_vertices; ++i)
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        const int p = s.subgraph_of[graph.entries(k)], q = s.subgraph_of[i];
        if (p != q) ++expected[{p, q}];
      }
    const std::regex edge(R"re(  G(\d+) -> G(\d+) \[label="(\d+)"\];)re");
    const std::regex node(R"re(  G(\d+) \[label="G(\d+)\\n(\d+)"\];)re");
    const std::regex rank(R"re(  \{ rank=same;(( G\d+;)+) \})re");
    std::istringstream lines(text);
    std::smatch match;
    int nodes = 0, level = 0;
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_match(line, match, edge)) {
        found[{std::stoi(match[1]), std::stoi(match[2])}] = std::stoi(match[3]);
      } else if (std::regex_match(line, match, node)) {
        EXPECT_EQ(std::stoi(match[1]), nodes);
        EXPECT_EQ(std::stoi(match[3]), s.size(nodes));
        ++nodes;
      } else if (std::regex_match(line, match, rank)) {
        std::istringstream members(match[1]);
        int size = 0;
        for (std::string member; members >> member; ++size)
          EXPECT_EQ(s.level_of[std::stoi(member.substr(1))], level);
        EXPECT_EQ(size, s.level_map[level + 1] - s.level_map[level]);
        ++level;
      }
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(nodes, s.count);
    EXPECT_EQ(level, s.num_levels);
  }
}

TEST(PlanExport, RefusesWhatIsTooLarge) {
  const auto graph = TestGraphs::chain_graph(100);
  const auto s = split(graph, 10);
  const auto schedule = make_schedule(graph, s);
  std::ostringstream out;
  EXPECT_THROW(write_subgraphs_dot(out, graph, s, 9), OptionError);
  EXPECT_THROW(write_schedule_json(out, graph, s, schedule, 98), OptionError);
  EXPECT_TRUE(out.str().empty());
  EXPECT_NO_THROW(write_subgraphs_dot(out, graph, s, 10));
  EXPECT_NO_THROW(write_schedule_json(out, graph, s, schedule, 99));
}

}  // namespace
