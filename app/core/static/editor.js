// Licences of the packages in this bundle: editor/licences.txt
import{T as a}from"./editor/chunk-KLYKJU77.js";export{a as createEditor};
