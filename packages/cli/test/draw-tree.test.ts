import { expect, test } from "vitest";
import { drawTree } from "../src/terminal/draw-tree.ts";

/** `"c<b"`: c, whose parent is b. */
function draw(...nodes: string[]): string[] {
  const parsed = nodes.map((text) => {
    const [id = "", parent] = text.split("<");
    return { id, parent_id: parent ?? null };
  });
  return drawTree(parsed).map(({ graph, node }) => (node ? `${graph} ${node.id}` : graph));
}

test("a straight line", () => {
  expect(draw("c<b", "b<a", "a")).toEqual(["* c", "* b", "* a"]);
});

test("two branches from one point", () => {
  expect(draw("d<b", "c<b", "b<a", "a")).toEqual(["* d", "| * c", "|/", "* b", "* a"]);
});

test("three branches, one of which goes on", () => {
  const lines = ["* f", "* e", "| * d", "| | * c", "|_|/", "|/", "* b", "* a"];
  expect(draw("f<e", "e<b", "d<b", "c<b", "b<a", "a")).toEqual(lines);
});

test("a page that ends before the beginning", () => {
  expect(draw("c<b", "x<y")).toEqual(["* c", "| * x"]);
});

test("nothing", () => {
  expect(draw()).toEqual([]);
});
