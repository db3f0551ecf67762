export * from "./application.js";
