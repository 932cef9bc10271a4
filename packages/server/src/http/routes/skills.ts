import type { SkillFiles } from "../../agent/skill-files.ts";
import type { Handlers } from "../handler.ts";
import { slicePage } from "./page.ts";

export interface SkillRoutes {
  readonly skills: Pick<SkillFiles, "refresh">;
}

export function skillRoutes({ skills }: SkillRoutes): Pick<Handlers, "listSkills"> {
  return {
    listSkills: async ({ query }) => {
      const { page, info } = slicePage(query, (await skills.refresh()).skills);
      return { skills: page, ...info };
    },
  };
}
