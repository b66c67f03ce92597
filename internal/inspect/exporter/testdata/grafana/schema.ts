// What the dashboard is held against: the types that Grafana publishes of its own
// schema. Enumerations are their values, and nothing is required, since Grafana fills
// in its defaults; what is not known there, or of another type, is an error.
import type { Dashboard, GraphFieldConfig, Panel, RowPanel, TableFieldOptions, VariableModel } from "@grafana/schema";
import type { Options as HeatmapOptions, FieldConfig as HeatmapFieldConfig } from "@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen.js";
import type { Options as StatOptions } from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen.js";
import type { Options as TableOptions } from "@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen.js";
import type { Options as TimeseriesOptions } from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen.js";

type Plain<T> = unknown extends T ? T
  : T extends string ? `${T}`
  : T extends number | boolean | null | undefined ? T
  : T extends (infer U)[] ? Plain<U>[]
  : T extends object ? { [K in keyof T]?: Plain<T[K]> }
  : T;

// Grafana writes the definition of a variable that is a query, which its types leave out.
type Variable = Plain<VariableModel> & { definition?: string };
export type Outside = Plain<Omit<Dashboard, "panels" | "templating">> & { templating?: { list?: Variable[] } };
export type Row = Plain<RowPanel>;
export type Any = Plain<Panel>;
export type Options = { heatmap: Plain<HeatmapOptions>; stat: Plain<StatOptions>; table: Plain<TableOptions>; timeseries: Plain<TimeseriesOptions> };
export type Custom = { heatmap: Plain<HeatmapFieldConfig>; stat: Record<string, never>; table: Plain<TableFieldOptions>; timeseries: Plain<GraphFieldConfig> };
